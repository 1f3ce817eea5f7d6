#if AsyncHTTPClient
  import AsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOHTTP2
  import NIOSSL
  import Testing

  @testable import DownloadAsyncHTTPClient

  struct HTTPClientFailureMappingTests {
    @Test(
      arguments: [
        (HTTPClientError.readTimeout, .timedOut), (HTTPClientError.connectTimeout, .timedOut),
        (HTTPClientError.tlsHandshakeTimeout, .timedOut),
        (HTTPClientError.getConnectionFromPoolTimeout, .timedOut),
        (HTTPClientError.remoteConnectionClosed, .connectionLost),
        (HTTPClientError.invalidURL, .unsupportedURL),
        (HTTPClientError.alreadyShutdown, .unknown),
        (HTTPParserError.invalidEOFState, .connectionLost),
        (HTTPParserError.headerOverflow, .badResponse),
        (HTTPParserError.invalidChunkSize, .badResponse),
        (IOError(errnoCode: ECONNREFUSED, reason: "connect"), .cannotConnect),
        (IOError(errnoCode: ENETUNREACH, reason: "connect"), .cannotConnect),
        (IOError(errnoCode: ETIMEDOUT, reason: "connect"), .timedOut),
        (IOError(errnoCode: ECONNRESET, reason: "read"), .connectionLost),
        (IOError(errnoCode: EMFILE, reason: "socket"), .outOfResources),
        (IOError(errnoCode: EACCES, reason: "socket"), .unknown),
        (ChannelError.connectTimeout(.seconds(1)), .timedOut), (ChannelError.eof, .connectionLost),
        (NIOSSLError.uncleanShutdown, .connectionLost),
        (NIOSSLError.unableToValidateCertificate, .insecure),
        (NIOSSLError.handshakeFailed(.syscallError), .connectionLost),
        (NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])), .connectionLost),
        (NIOSSLError.handshakeFailed(.wantX509Lookup), .insecure),
        (NIOHTTP2Errors.streamClosed(streamID: 1, errorCode: .cancel), .connectionLost),
        (
          NIOHTTP2Errors.streamError(
            streamID: 1,
            baseError: NIOHTTP2Errors.streamClosed(streamID: 1, errorCode: .cancel)
          ), .connectionLost
        ),
        (NIOHTTP2Errors.unableToParseFrame(), .badResponse),
        (CocoaError(.fileNoSuchFile), .unknown),
      ] as [(any Error, DownloadFailure.Code)]
    )
    func `each client error maps to one failure code`(
      _ error: any Error,
      _ code: DownloadFailure.Code
    ) throws {
      for proxy in [nil, "http://[::1]:3128"] {
        let outcome = TaskOutcome(failedWith: error, try Self.peers(proxy: proxy))
        #expect(outcome.failureCode == code)
        guard case .failed(let failure) = outcome else { continue }
        // A message names what the user can see, and nothing of the libraries.
        let jargon = [
          "Error", "error set", "errno", "NIO", "SSL", "(", "HTTPClient", "::", "/BUILD",
          "descriptor",
        ]
        let message = failure.message.replacing("(through the proxy ::1 port 3128)", with: "")
          .replacing("::1", with: "")
        #expect(!jargon.contains { message.contains($0) }, "\(failure.message)")
        #expect(failure.message.contains("h.example port 81") || failure.message.contains("proxy"))
        #expect(failure.message.contains("3128") == (proxy != nil))
      }
    }

    static func peers(proxy: String?) throws -> TransferPeers {
      let url = try RequestURL("http://me:hush@h.example:81/x?token=hush")
      return TransferPeers(url, through: try proxy.map { try ProxyServer($0) })
    }

    @Test(
      arguments: [
        (
          IOError(errnoCode: ECONNREFUSED, reason: "connection reset (error set)"),
          "h.example port 81 refused the connection"
        ),
        (
          IOError(errnoCode: ENETUNREACH, reason: "connect"),
          "h.example port 81 cannot be reached: Network is unreachable"
        ),
        (
          IOError(errnoCode: ECONNRESET, reason: "read(descriptor:pointer:size:)"),
          "h.example port 81 reset the connection"
        ),
        (
          HTTPClientError.remoteConnectionClosed,
          "h.example port 81 closed the connection before the end of the response"
        ),
        (HTTPClientError.connectTimeout, "h.example port 81 did not answer in time"),
        (
          HTTPParserError.invalidConstant,
          "the answer of h.example port 81 is not HTTP; it may expect https"
        ),
        (
          HTTPParserError.invalidChunkSize, "the answer of h.example port 81 has a malformed body"
        ),
        (
          HTTPParserError.headerOverflow,
          "the answer of h.example port 81 has a header that is too long"
        ),
        (
          HTTPParserError.invalidHeaderToken,
          "the answer of h.example port 81 has a malformed header field"
        ),
        (
          HTTPParserError.invalidVersion,
          "the answer of h.example port 81 has an unknown version of HTTP"
        ),
      ] as [(any Error, String)]
    )
    func `a failure is described in plain words`(_ error: any Error, _ message: String) throws {
      let direct = TaskOutcome(failedWith: error, try Self.peers(proxy: nil))
      guard case .failed(let failure) = direct else {
        Issue.record("not a failure")
        return
      }
      #expect(failure.message == message)
    }

    @Test func `a failure to reach a proxy names its port`() throws {
      let refused = IOError(errnoCode: ECONNREFUSED, reason: "connect")
      let peers = try Self.peers(proxy: "socks5://me:hush@127.0.0.1:9")
      #expect(
        TaskOutcome(failedWith: refused, peers)
          == .failed(
            DownloadFailure(
              .cannotConnect,
              "the proxy 127.0.0.1 port 9 refused the connection",
              detail: .proxy
            )
          )
      )
      #expect(
        TaskOutcome(failedWith: HTTPClientError.remoteConnectionClosed, peers)
          == .failed(
            DownloadFailure(
              .connectionLost,
              "h.example port 81 closed the connection before the end of the response "
                + "(through the proxy 127.0.0.1 port 9)"
            )
          )
      )
    }

    @Test(
      arguments: [
        (UnansweredRequest.newConnection, "PEER closed the connection without an answer"),
        (HTTPParserError.invalidConstant, "the answer of PEER is not HTTP"),
        (HTTPClientError.connectTimeout, "the proxy 127.0.0.1 port 9 did not answer in time"),
      ] as [(any Error, String)]
    )
    func `a proxy that may be the one that does not answer is named`(
      _ error: any Error,
      _ message: String
    ) throws {
      let peers = try Self.peers(proxy: "http://127.0.0.1:9")
      guard case .failed(let failure) = TaskOutcome(failedWith: error, peers) else {
        Issue.record("not a failure")
        return
      }
      let peer = "h.example port 81, or the proxy 127.0.0.1 port 9,"
      #expect(failure.message == message.replacing("PEER", with: peer))
      #expect(failure.detail == .proxy)
    }

    @Test func `addresses of another family than the allowed one are no addresses of the host`()
      throws
    {
      let limits = ConnectionLimits(addressFamily: .ipv6)
      let other = IOError(errnoCode: EAFNOSUPPORT, reason: "bind")
      #expect(
        TaskOutcome(failedWith: other, try Self.peers(proxy: nil), limits)
          == .failed(
            DownloadFailure(
              .cannotConnect,
              "h.example has no IPv6 address",
              detail: .addressFamily
            )
          )
      )
    }

    @Test(
      arguments: [
        (CocoaError(.fileNoSuchFile), .cannotConnect), (HTTPClientError.alreadyShutdown, .unknown),
        (HTTPClientError.socksHandshakeTimeout, .timedOut),
        (IOError(errnoCode: ECONNRESET, reason: "read"), .connectionLost),
        (NIOSSLError.unableToValidateCertificate, .insecure),
      ] as [(any Error, DownloadFailure.Code)]
    )
    func `behind a SOCKS proxy an error of an unknown type is one of its handshake`(
      _ error: any Error,
      _ code: DownloadFailure.Code
    ) throws {
      let proxy = "socks5h://127.0.0.1:9"
      let peers = try Self.peers(proxy: proxy)
      let route = Route.tunnel(try ProxyServer(proxy))
      let outcome = TaskOutcome(failedWith: error, peers, by: route)
      #expect(outcome.failureCode == code)
      let cancel = TaskOutcome(failedWith: CancellationError(), peers, by: route)
      #expect(cancel == .cancelled)
    }

    @Test func `a cancel is not a failure`() throws {
      #expect(
        TaskOutcome(failedWith: CancellationError(), try Self.peers(proxy: nil)) == .cancelled
      )
      #expect(
        TaskOutcome(failedWith: HTTPClientError.cancelled, try Self.peers(proxy: nil)) == .cancelled
      )
    }
  }
#endif
