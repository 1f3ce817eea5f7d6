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

  extension TransferProblem {
    /// The problem in an error of AsyncHTTPClient, SwiftNIO or NIOSSL.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - code: The code of the failure that the error was mapped to.
    ///   - limits: What the client accepts.
    ///   - certificate: Why the certificate of the server was rejected; `nil` if that is unknown.
    init(
      _ error: any Error,
      _ code: DownloadFailure.Code,
      _ limits: ConnectionLimits,
      _ certificate: CertificateProblem?
    ) {
      self =
        switch code {
        case .cannotFindHost: .unknownHost
        case .cannotConnect: Self.connecting(error, limits.addressFamily)
        case .timedOut: .noAnswerInTime
        case .connectionLost: Self.closing(error)
        case .insecure: certificate.map { .certificate($0) } ?? Self.securing(error, limits)
        case .badResponse: .invalidResponse(Self.defect(error))
        case .outOfResources: .shortage(reason: Self.reason(error))
        default: .other(reason: Self.reason(error))
        }
    }

    private static func connecting(_ error: any Error, _ family: AddressFamily?) -> Self {
      if error as? HTTPClientError == .invalidProxyResponse { return .noTunnel }
      var numbers = numbers(of: error)
      if let family, !numbers.isEmpty {
        // Those of addresses of the other family.
        numbers.removeAll { $0 == EAFNOSUPPORT || $0 == EINVAL }
        if numbers.isEmpty { return .noAddress(family) }
      }
      guard let first = numbers.first else { return .unreachable(reason: reason(error)) }
      return first == ECONNREFUSED
        ? .connectionRefused : .unreachable(reason: systemErrorText(first))
    }

    private static func closing(_ error: any Error) -> Self {
      if error is UnansweredRequest { return .noReply }
      if isClosedHandshake(error) { return .noHandshake }
      let number = number(of: error)
      return number == ECONNRESET || number == EPIPE ? .reset : .closed
    }

    /// Whether the server closed the connection before the end of the TLS handshake.
    static func isClosedHandshake(_ error: any Error) -> Bool {
      guard let error = error as? NIOSSLError, case .handshakeFailed(let cause) = error else {
        return false
      }
      return switch cause {
      case .syscallError, .zeroReturn: true
      case .sslError(let errors): errors.contains(.eofDuringHandshake)
      default: false
      }
    }

    private static func defect(_ error: any Error) -> ResponseDefect {
      guard let error = error as? HTTPParserError else { return .other(reason: reason(error)) }
      return switch error {
      case .invalidConstant, .invalidStatus: .notHTTP
      case .invalidVersion: .version
      case .headerOverflow: .longHeader
      case .invalidHeaderToken, .lfExpected, .invalidCharactersUsed: .field
      case .invalidContentLength, .unexpectedContentLength: .length
      case .invalidChunkSize: .chunk
      // Its description is already a phrase.
      default: .other(reason: String(describing: error))
      }
    }

    private static func securing(_ error: any Error, _ limits: ConnectionLimits) -> Self {
      if let error = error as? UnpinnedKey { return .unpinned(error.key) }
      if error is NIOSSLExtraError { return .certificate(.otherHosts(nil)) }
      let reason = reason(error)
      switch reason {
      case "certificate verify failed": return .certificate(.untrusted)
      case "wrong version number", "http request", "packet length too long", "invalid alert":
        return .noTLS
      case "tlsv1 alert protocol version", "unsupported protocol":
        return .oldTLS(minimum: limits.minimumTLSVersion)
      default: return .insecure(reason: reason)
      }
    }

    /// The first error number of a system call that failed; `nil` if there is none.
    private static func number(of error: any Error) -> Int32? { numbers(of: error).first }

    /// The error numbers of the system calls that failed.
    private static func numbers(of error: any Error) -> [Int32] {
      switch error {
      case let error as IOError: [error.errnoCode]
      // One for each address of the host.
      case let error as NIOConnectionError: error.connectionErrors.flatMap { numbers(of: $0.error) }
      case let error as NIOHTTP2Errors.StreamError: numbers(of: error.baseError)
      default: []
      }
    }

    /// The reason in words, without names of types, functions and files.
    private static func reason(_ error: any Error) -> String {
      if let number = number(of: error) { return systemErrorText(number) }
      if let error = error as? NIOSSLError, case .handshakeFailed(let cause) = error {
        return reason(cause)
      }
      let text = String(describing: error)
      // BoringSSL: `error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at …`.
      if let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound {
        let name = text[start...].prefix { $0 == "_" || $0.isLetter || $0.isNumber }
        return name.lowercased().replacing("_", with: " ")
      }
      switch error {
      case is any NIOHTTP2Error: return "an error of HTTP/2, \(words(text))"
      default: return words(text)
      }
    }

    /// The last name in a description such as `HTTPClientError.remoteConnectionClosed`, in words.
    private static func words(_ text: String) -> String {
      let head = text.prefix { $0 != "(" && $0 != ":" && $0 != "[" && $0 != "{" }
      let name = head.split(separator: ".").last ?? head[...]
      var words = ""
      var last: Character?
      for character in name {
        if character.isUppercase, last?.isLowercase == true { words += " " }
        words += character.lowercased()
        last = character
      }
      return words
    }
  }
#endif
