#if AsyncHTTPClient
  import AsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOHTTP2
  import NIOSSL
  import Testing
  import TransportTesting

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
    ) {
      let outcome = TaskOutcome(failedWith: error)
      #expect(outcome.failureCode == code)
    }

    @Test func `a cancel is not a failure`() {
      #expect(TaskOutcome(failedWith: CancellationError()) == .cancelled)
      #expect(TaskOutcome(failedWith: HTTPClientError.cancelled) == .cancelled)
    }
  }
#endif
