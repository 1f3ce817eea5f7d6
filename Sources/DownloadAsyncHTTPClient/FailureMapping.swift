#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOHTTP2
  internal import NIOPosix
  internal import NIOSSL
  internal import SystemInterface

  extension TaskOutcome {
    /// The outcome of a task whose request the client ended with an error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - peers: The server and the proxy of the request.
    ///   - limits: What the client accepts.
    ///   - problem: Why the certificate of the server was rejected; `nil` if that is unknown.
    ///   - route: The way of the request.
    init(
      failedWith error: any Error,
      _ peers: TransferPeers,
      _ limits: ConnectionLimits = ConnectionLimits(),
      _ problem: CertificateProblem? = nil,
      by route: Route = .direct
    ) {
      if error is CancellationError || error as? HTTPClientError == .cancelled {
        self = .cancelled
      } else {
        let error = route.cause(of: error)
        let code = DownloadFailure.Code(error)
        self = .failed(peers.failure(code, TransferProblem(error, code, limits, problem)))
      }
    }
  }

  extension Route {
    /// Returns the cause of an error: `invalidProxyResponse` if a SOCKS proxy has opened no tunnel.
    ///
    /// The errors of a handshake with a SOCKS proxy, and its end without an answer, have types of their
    /// own, some of them private. The errors of what follows have the types that
    /// ``DownloadFailure/Code`` knows.
    fileprivate func cause(of error: any Error) -> any Error {
      guard let proxy, proxy.kind == .socks5 || proxy.kind == .socks5h,
        DownloadFailure.Code.known(error) == nil
      else { return error }
      return HTTPClientError.invalidProxyResponse
    }
  }

  /// What a client accepts, as far as messages name it.
  struct ConnectionLimits: Sendable {
    var minimumTLSVersion = ConnectionSettings.TLSVersion.tls12
    /// The only family of addresses; `nil` for both.
    var addressFamily: AddressFamily?
  }

  /// Why a certificate was rejected, as far as the client says.
  enum CertificateRejection {
    case untrusted, otherHost

    /// The rejection in an error; `nil` if it is about no certificate.
    init?(_ error: any Error) {
      switch error {
      case let error as NIOSSLExtraError where error == .failedToValidateHostname:
        self = .otherHost
      case let error as NIOSSLError:
        guard case .handshakeFailed(let cause) = error,
          String(describing: cause).contains("CERTIFICATE_VERIFY_FAILED")
        else { return nil }
        self = .untrusted
      default: return nil
      }
    }
  }

  extension DownloadFailure.Code {
    /// Maps an error of AsyncHTTPClient, SwiftNIO or NIOSSL to a failure.
    init(_ error: any Error) { self = Self.known(error) ?? .unknown }

    /// The failure of an error of AsyncHTTPClient, SwiftNIO or NIOSSL; `nil` for an error of another type.
    fileprivate static func known(_ error: any Error) -> Self? {
      switch error {
      case let error as HTTPClientError: meaning(of: error)
      case let error as NIOConnectionError: meaning(of: error)
      case let error as IOError: meaning(of: error)
      case is UnansweredRequest: .connectionLost
      case let error as HTTPParserError: meaning(of: error)
      case let error as ChannelError: meaning(of: error)
      case let error as NIOSSLError: meaning(of: error)
      case let error as BoringSSLError: meaning(of: error)
      case is NIOSSLExtraError, is UnpinnedKey: .insecure
      case let error as NIOHTTP2Errors.StreamError: Self(error.baseError)
      case is NIOHTTP2Errors.StreamClosed, is NIOHTTP2Errors.NoSuchStream,
        is NIOHTTP2Errors.IOOnClosedConnection:
        .connectionLost
      case is any NIOHTTP2Error: .badResponse
      case is SocketAddressError: .cannotFindHost
      default: nil
      }
    }

    private static func meaning(of error: HTTPClientError) -> Self {
      switch error {
      case .readTimeout, .writeTimeout, .connectTimeout, .tlsHandshakeTimeout, .deadlineExceeded,
        .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
        .timedOut
      case .remoteConnectionClosed, .uncleanShutdown: .connectionLost
      case .invalidURL, .emptyHost, .emptyScheme: .unsupportedURL
      case .invalidProxyResponse: .cannotConnect
      default: .unknown
      }
    }

    /// Maps a failed connection, which has an error for each address of the host.
    private static func meaning(of error: NIOConnectionError) -> Self {
      let codes = error.connectionErrors.map { Self($0.error) }
      if codes.contains(.outOfResources) { return .outOfResources }
      if error.dnsAError != nil || error.dnsAAAAError != nil { return .cannotFindHost }
      return codes.contains(.timedOut) ? .timedOut : .cannotConnect
    }

    private static func meaning(of error: IOError) -> Self {
      switch error.errnoCode {
      // The last two: an address of another family than that of the socket.
      case ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL,
        EAFNOSUPPORT, EINVAL:
        .cannotConnect
      case ETIMEDOUT: .timedOut
      case ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN, EBADF: .connectionLost
      case let code where SystemCallFailure(errno: code) == .outOfResources: .outOfResources
      default: .unknown
      }
    }

    private static func meaning(of error: HTTPParserError) -> Self {
      // The stream ended within a header or a body.
      error == .invalidEOFState || error == .closedConnection ? .connectionLost : .badResponse
    }

    private static func meaning(of error: ChannelError) -> Self {
      switch error {
      case .connectTimeout: .timedOut
      case .eof, .ioOnClosedChannel, .alreadyClosed, .inputClosed, .outputClosed: .connectionLost
      default: .unknown
      }
    }

    private static func meaning(of error: NIOSSLError) -> Self {
      switch error {
      // A peer that closes the connection during or after the handshake has not failed to identify
      // itself. As `insecure` the download would fail permanently; a retry may complete it.
      case .uncleanShutdown, .readInInvalidTLSState, .writeDuringTLSShutdown, .shutdownFailed:
        .connectionLost
      case .handshakeFailed where TransferProblem.isClosedHandshake(error): .connectionLost
      case .handshakeFailed(let cause): meaning(of: cause)
      case .unableToValidateCertificate, .noCertificateToValidate, .cannotMatchULabel,
        .cannotFindPeerIP:
        .insecure
      case .failedToLoadCertificate, .noSuchFilesystemObject: .insecure
      case .unableToAllocateBoringSSLObject, .failedToLoadPrivateKey: .unknown
      }
    }

    private static func meaning(of error: BoringSSLError) -> Self {
      switch error {
      case .zeroReturn, .syscallError: .connectionLost
      default: .insecure
      }
    }
  }
#endif
