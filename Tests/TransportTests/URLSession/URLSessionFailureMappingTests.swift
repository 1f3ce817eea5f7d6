import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import TestTraits
import Testing

@testable import DownloadURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct URLSessionFailureMappingTests {
  @Test(
    .requirements("FK37", "SC11", "SC15"),
    arguments: [
      (URLError.Code.timedOut, "", DownloadFailure.Code.timedOut),
      (.cannotConnectToHost, "Failed to connect to 127.0.0.1 port 1", .cannotConnect),
      (.cannotFindHost, "Could not resolve host: x", .cannotFindHost),
      (.notConnectedToInternet, "", .cannotFindHost),
      (.networkConnectionLost, "Recv failure: Connection reset by peer", .connectionLost),
      (.badServerResponse, "Empty reply from server", .connectionLost),
      (.badURL, "URL using bad/illegal format", .unsupportedURL),
      (.unsupportedURL, "unsupported URL", .unsupportedURL),
      (.unsupportedURL, "Protocol \"ftp\" not supported or disabled in libcurl", .unsupportedURL),
      (.unsupportedURL, "Received HTTP/0.9 when not allowed", .badResponse),
      (.httpTooManyRedirects, "too many HTTP redirects", .badRedirect),
      (.serverCertificateUntrusted, "", .insecure),
      (.cannotParseResponse, "", .badResponse),
      (.unknown, "SSL certificate problem: self-signed certificate", .insecure),
      (.unknown, "SSL: no alternative certificate subject name matches", .insecure),
      (.unknown, "OpenSSL/3.0.19: error:0A000410:SSL routines::sslv3 alert", .insecure),
      (
        .unknown, "OpenSSL SSL_connect: Connection reset by peer in connection to h",
        .connectionLost
      ),
      (.unknown, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:443", .connectionLost),
      (.unknown, "OpenSSL SSL_read: unexpected eof while reading, errno 0", .connectionLost),
      (.unknown, "transfer closed with 9 bytes remaining to read", .connectionLost),
      (.unknown, "transfer closed with outstanding read data remaining", .connectionLost),
      (.unknown, "Failed to connect to h port 80: Network is unreachable", .cannotConnect),
      (.unknown, "Failed writing header", .badResponse),
      (.unknown, "Error while processing content unencoding: invalid", .badResponse),
      (.unknown, "Unrecognized content encoding type", .badResponse),
      (.unknown, "Illegal or missing hexadecimal sequence in chunked-encoding", .badResponse),
      (.unknown, "Too large response headers: 307241 > 307200", .badResponse),
      (.unknown, "Out of memory", .badResponse),
      (.unknown, "Unsupported HTTP version (9.9) in response", .badResponse),
      (.unknown, "something new", .unknown),
      (.unknown, "", .unknown),
    ]
  )
  func `each URLSession error maps to one failure code`(
    _ code: URLError.Code,
    _ text: String,
    _ expected: DownloadFailure.Code
  ) {
    let failure = failure(for: code, text: text)
    #expect(failure.code == expected)
    #expect(text.isEmpty ? !failure.message.isEmpty : failure.message == text)
  }

  @Test func `a cancel is not a failure`() {
    #expect(outcome(of: URLError(.cancelled)) == .cancelled)
    #expect(outcome(of: URLError(.timedOut)).failureCode == .timedOut)
    #expect(outcome(of: CocoaError(.fileNoSuchFile)).failureCode == .unknown)
  }

  @Test(arguments: [
    (Duration.zero, 1.0), (.milliseconds(1), 1), (.seconds(1), 1), (.milliseconds(1_001), 2),
    (.seconds(60), 60), (.seconds(Int64.max), 1e6),
  ])
  func `a time-out is rounded to whole seconds`(_ duration: Duration, _ seconds: Double) {
    #expect(URLSessionTransport.wholeSeconds(duration) == seconds)
  }
}
