internal import DownloadStore
internal import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The outcome of a task that the session ended with an error.
func outcome(of error: any Error) -> TaskOutcome {
  guard let error = error as? URLError else {
    return .failed(DownloadFailure(.unknown, String(describing: error)))
  }
  guard error.code != .cancelled else { return .cancelled }
  // On Linux a time-out has no text.
  let text = error.userInfo[NSLocalizedDescriptionKey] as? String
  return .failed(failure(for: error.code, text: text ?? ""))
}

/// Maps an error of the session to a failure.
///
/// On Linux most errors of libcurl arrive as -1 (`unknown`) and differ only in libcurl's text; the
/// texts below are those of libcurl 7.88 to 8. Any other text remains `unknown`, which the engine
/// retries.
func failure(for code: URLError.Code, text: String) -> DownloadFailure {
  let kind = byCode[code] ?? textRules.first { $0.applies(to: text) }?.kind ?? .unknown
  return DownloadFailure(kind, text.isEmpty ? plainText(kind, code) : text)
}

/// The codes whose meaning does not depend on the text.
private let byCode: [URLError.Code: DownloadFailure.Code] = [
  .timedOut: .timedOut,
  .cannotConnectToHost: .cannotConnect,
  .cannotFindHost: .cannotFindHost,
  .dnsLookupFailed: .cannotFindHost,
  .notConnectedToInternet: .cannotFindHost,
  .networkConnectionLost: .connectionLost,
  // On Linux only for libcurl's "Empty reply from server".
  .badServerResponse: .connectionLost,
  .badURL: .unsupportedURL,
  .httpTooManyRedirects: .badRedirect,
  .redirectToNonExistentLocation: .badRedirect,
  .secureConnectionFailed: .insecure,
  .serverCertificateHasBadDate: .insecure,
  .serverCertificateUntrusted: .insecure,
  .serverCertificateHasUnknownRoot: .insecure,
  .serverCertificateNotYetValid: .insecure,
  .clientCertificateRejected: .insecure,
  .clientCertificateRequired: .insecure,
  .appTransportSecurityRequiresSecureConnection: .insecure,
  .cannotDecodeRawData: .badResponse,
  .cannotDecodeContentData: .badResponse,
  .cannotParseResponse: .badResponse,
]

/// Maps a text of libcurl to a failure; the first matching rule applies.
private struct TextRule {
  var words: String
  var kind: DownloadFailure.Code
  var isPrefix = true

  func applies(to text: String) -> Bool {
    isPrefix ? text.hasPrefix(words) : text.contains(words)
  }
}

private let textRules = [
  // A peer that closes the connection during or after the handshake has not failed to identify
  // itself. As `insecure` the download would fail permanently; a retry may complete it.
  TextRule(words: "OpenSSL SSL_read", kind: .connectionLost),
  TextRule(words: "OpenSSL SSL_write", kind: .connectionLost),
  TextRule(words: "SSL_ERROR_SYSCALL", kind: .connectionLost, isPrefix: false),
  TextRule(words: "OpenSSL SSL_connect: Connection reset", kind: .connectionLost),
  TextRule(words: "SSL connection timeout", kind: .timedOut),
  TextRule(words: "SSL", kind: .insecure),
  TextRule(words: "OpenSSL", kind: .insecure),
  TextRule(words: "transfer closed", kind: .connectionLost),
  TextRule(words: "Recv failure", kind: .connectionLost),
  TextRule(words: "Send failure", kind: .connectionLost),
  TextRule(words: "Failed to connect", kind: .cannotConnect),
  TextRule(words: "Failed writing header", kind: .badResponse),
  TextRule(words: "Error while processing content", kind: .badResponse),
  TextRule(words: "Unrecognized content encoding", kind: .badResponse),
  TextRule(words: "Received HTTP/0.9", kind: .badResponse),
  TextRule(words: "Header without colon", kind: .badResponse),
  TextRule(words: "Nul byte in header", kind: .badResponse),
  TextRule(words: "Invalid Content-Length", kind: .badResponse),
  TextRule(words: "Unsupported HTTP version", kind: .badResponse),
  TextRule(words: "Unsupported response code", kind: .badResponse),
  TextRule(words: "Too large response headers", kind: .badResponse),
  // libcurl's texts for a header line longer than 100 KB and for a folded first line.
  TextRule(words: "Out of memory", kind: .badResponse),
  TextRule(words: "A libcurl function was given a bad argument", kind: .badResponse),
  TextRule(words: "chunked-encoding", kind: .badResponse, isPrefix: false),
  TextRule(words: "unsupported URL", kind: .unsupportedURL),
  TextRule(words: "Protocol \"", kind: .unsupportedURL),
]

private func plainText(_ kind: DownloadFailure.Code, _ code: URLError.Code) -> String {
  switch kind {
  case .timedOut: "nothing arrived in time"
  case .cannotConnect: "no connection to the server could be opened"
  case .cannotFindHost: "there is no host of that name, or this machine is offline"
  case .connectionLost: "the server closed the connection before the end of the response"
  case .insecure: "no secure connection to the server could be opened"
  case .badResponse: "the answer of the server is not valid HTTP"
  case .badRedirect: "the server redirects to a URL that cannot be requested"
  case .unsupportedURL: "the URL cannot be requested"
  default: "the request failed for an unknown reason (URL error \(code.rawValue))"
  }
}
