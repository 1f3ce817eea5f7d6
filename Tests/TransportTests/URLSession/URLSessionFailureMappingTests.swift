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
  ) throws {
    let failure = failure(for: code, text: text, try Self.peers())
    #expect(failure.code == expected)
    #expect(failure.message.contains("h.example") || expected == .unsupportedURL)
    let jargon = ["OpenSSL", "SSL_", "errno", "libcurl", "routines"]
    #expect(!jargon.contains { failure.message.contains($0) }, "\(failure.message)")
  }

  private static func peers(_ proxy: String? = nil) throws -> TransferPeers {
    let url = try RequestURL("https://h.example:81/x")
    return TransferPeers(url, through: try proxy.map { try ProxyServer($0) })
  }

  @Test(arguments: [
    (
      URLError.Code.cannotConnectToHost, "Failed to connect to h port 81: Connection refused",
      "h.example port 81 refused the connection"
    ),
    (
      .cannotConnectToHost, "Failed to connect to h port 81 after 0 ms: Couldn't connect to server",
      "h.example port 81 cannot be reached"
    ),
    (.cannotFindHost, "Could not resolve host: h.example", "there is no host 'h.example'"),
    (.timedOut, "", "h.example port 81 did not answer in time"),
    (
      .networkConnectionLost, "Recv failure: Connection reset by peer",
      "h.example port 81 reset the connection"
    ),
    (
      .badServerResponse, "Empty reply from server",
      "h.example port 81 closed the connection without an answer"
    ),
    (
      .unknown, "transfer closed with 9 bytes remaining to read",
      "h.example port 81 closed the connection before the end of the response"
    ),
    (
      .unknown, "SSL certificate problem: self-signed certificate",
      "the certificate of h.example port 81 is not trusted, because it is self-signed"
    ),
    (
      .unknown, "SSL certificate problem: unable to get local issuer certificate",
      "the certificate of h.example port 81 is not trusted, because its issuer is unknown"
    ),
    (
      .unknown, "SSL certificate problem: certificate has expired",
      "the certificate of h.example port 81 has expired"
    ),
    (
      .unknown, "SSL: no alternative certificate subject name matches target host name 'h.example'",
      "the certificate of h.example port 81 is for another host"
    ),
    (
      .unknown, "OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number",
      "h.example port 81 does not speak TLS"
    ),
    (
      .unknown, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h.example:81",
      "h.example port 81 closed the connection during the TLS handshake; it may not speak TLS"
    ),
    (
      .unknown, "Too large response headers: 307241 > 307200",
      "the answer of h.example port 81 has a header that is too long"
    ),
    (
      .unsupportedURL, "Received HTTP/0.9 when not allowed",
      "the answer of h.example port 81 is not HTTP"
    ),
    (
      .unknown, "Illegal or missing hexadecimal sequence in chunked-encoding",
      "the answer of h.example port 81 has a malformed body"
    ),
    (
      .unknown, "Header without colon",
      "the answer of h.example port 81 has a malformed header field"
    ),
    (
      .unknown, "Invalid Content-Length: value",
      "the answer of h.example port 81 has an invalid Content-Length"
    ),
    (
      .unknown, "Unsupported HTTP version (9.9) in response",
      "the answer of h.example port 81 has an unknown version of HTTP"
    ),
    (
      .unknown, "Unrecognized content encoding type",
      "the answer of h.example port 81 has a body that cannot be decoded"
    ),
  ])
  func `a failure reads as with the other transport`(
    _ code: URLError.Code,
    _ text: String,
    _ message: String
  ) throws {
    #expect(failure(for: code, text: text, try Self.peers()).message == message)
  }

  @Test func `a proxy that cannot be reached is named, and the failure says so`() throws {
    let peers = try Self.peers("http://me:hush@127.0.0.1:9")
    let text = "Failed to connect to 127.0.0.1 port 9: Connection refused"
    let refused = failure(for: .cannotConnectToHost, text: text, peers)
    #expect(refused.message == "the proxy 127.0.0.1 port 9 refused the connection")
    #expect(refused.detail == .proxy)
    let unknown = failure(for: .unknown, text: "Could not resolve proxy: foo", peers)
    #expect(unknown.code == .cannotFindHost && unknown.detail == .proxy)
  }

  @Test func `a time-out says how long the server was silent`() throws {
    let silent = outcome(of: URLError(.timedOut), try Self.peers(), silence: .seconds(30))
    #expect(
      silent == .failed(DownloadFailure(.timedOut, "h.example port 81 sent nothing for 30 s"))
    )
  }

  @Test func `a cancel is not a failure`() {
    #expect(outcome(of: URLError(.cancelled), .unnamed) == .cancelled)
    #expect(outcome(of: URLError(.timedOut), .unnamed).failureCode == .timedOut)
    #expect(outcome(of: CocoaError(.fileNoSuchFile), .unnamed).failureCode == .unknown)
  }

  @Test(arguments: [
    (Duration.zero, 1.0), (.milliseconds(1), 1), (.seconds(1), 1), (.milliseconds(1_001), 2),
    (.seconds(60), 60), (.seconds(Int64.max), 1e6),
  ])
  func `a time-out is rounded to whole seconds`(_ duration: Duration, _ seconds: Double) {
    #expect(URLSessionTransport.wholeSeconds(duration) == seconds)
  }
}
