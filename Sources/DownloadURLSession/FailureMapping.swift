internal import DownloadStore
internal import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The outcome of a task that the session ended with an error.
///
/// - Parameters:
///   - error: The error.
///   - peers: The server and the proxy of the request.
///   - limit: The longest time without data from the server; `nil` if it is unknown.
/// - Returns: The outcome, with the sentence of its failure.
func outcome(
  of error: any Error,
  _ peers: TransferPeers,
  silence limit: Duration? = nil
) -> TaskOutcome {
  guard let error = error as? URLError else {
    let reason = "the session failed with the error \((error as NSError).code)"
    return .failed(peers.failure(.unknown, .other(reason: reason)))
  }
  guard error.code != .cancelled else { return .cancelled }
  if error.code == .timedOut, let limit {
    return .failed(peers.failure(.timedOut, .silence(limit)))
  }
  // On Linux a time-out has no text.
  let text = error.userInfo[NSLocalizedDescriptionKey] as? String
  return .failed(failure(for: error.code, text: text ?? "", peers))
}

/// Maps an error of the session to a failure.
///
/// On Linux most errors of libcurl arrive as -1 (`unknown`) and differ only in libcurl's text; the
/// texts below are those of libcurl 7.88 to 8. Any other text remains `unknown`, which the engine
/// retries.
func failure(
  for code: URLError.Code,
  text: String,
  _ peers: TransferPeers
) -> DownloadFailure {
  let kind = byCode[code] ?? codeRules.first { $0.applies(to: text) }?.meaning ?? .unknown
  return peers.failure(kind, TransferProblem(kind, code, text))
}

extension TransferProblem {
  /// The problem behind an error of the session.
  ///
  /// - Parameters:
  ///   - kind: The code of the failure that the error was mapped to.
  ///   - code: The code of the error.
  ///   - text: The text of the error, which is that of libcurl on Linux.
  fileprivate init(_ kind: DownloadFailure.Code, _ code: URLError.Code, _ text: String) {
    let rules = problemRules[kind] ?? []
    let rule = rules.first { $0.applies(to: text) }?.meaning
    let reason = text.isEmpty ? "URL error \(code.rawValue)" : Self.reason(text)
    self =
      switch kind {
      case .cannotFindHost: .unknownHost
      case .cannotConnect: rule ?? .unreachable(reason: nil)
      case .timedOut: .noAnswerInTime
      case .connectionLost:
        // On Linux only for libcurl's "Empty reply from server".
        code == .badServerResponse ? .noReply : rule ?? .closed
      case .insecure:
        certificateProblems[code].map { .certificate($0) } ?? rule ?? .insecure(reason: reason)
      case .badResponse:
        .invalidResponse(
          responseDefects.first { $0.applies(to: text) }?.meaning ?? .other(reason: reason)
        )
      case .unsupportedURL: .unsupportedURL(reason: reason)
      default: .other(reason: reason)
      }
  }

  /// The reason in a text of libcurl, without the names of libraries and functions.
  private static func reason(_ text: String) -> String {
    var reason = text[...]
    if let last = text.ranges(of: "::").last {
      // OpenSSL: `OpenSSL/3.0.19: error:0A000410:SSL routines::sslv3 alert handshake failure`.
      reason = text[last.upperBound...]
    } else if text.hasPrefix("SSL") || text.hasPrefix("OpenSSL"),
      let colon = text.firstRange(of: ": ")
    {
      reason = text[colon.upperBound...]
    }
    let words = reason.replacing(" or disabled in libcurl", with: "")
    return words.prefix(1).lowercased() + words.dropFirst()
  }
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

/// What the codes of Apple's URLSession say about a certificate.
private let certificateProblems: [URLError.Code: CertificateProblem] = [
  .serverCertificateHasBadDate: .expired(day: nil),
  .serverCertificateNotYetValid: .notYetValid(day: nil),
  .serverCertificateHasUnknownRoot: .unknownIssuer,
  .serverCertificateUntrusted: .untrusted,
]

/// The meaning of a text of libcurl; the first matching rule of a list applies.
private struct TextRule<Meaning: Sendable>: Sendable {
  var words: String
  var meaning: Meaning
  var isPrefix = true

  func applies(to text: String) -> Bool {
    isPrefix ? text.hasPrefix(words) : text.contains(words)
  }
}

private let codeRules: [TextRule<DownloadFailure.Code>] = [
  // A peer that closes the connection during or after the handshake has not failed to identify
  // itself. As `insecure` the download would fail permanently; a retry may complete it.
  TextRule(words: "OpenSSL SSL_read", meaning: .connectionLost),
  TextRule(words: "OpenSSL SSL_write", meaning: .connectionLost),
  TextRule(words: "SSL_ERROR_SYSCALL", meaning: .connectionLost, isPrefix: false),
  TextRule(words: "OpenSSL SSL_connect: Connection reset", meaning: .connectionLost),
  TextRule(words: "SSL connection timeout", meaning: .timedOut),
  TextRule(words: "SSL", meaning: .insecure),
  TextRule(words: "OpenSSL", meaning: .insecure),
  TextRule(words: "transfer closed", meaning: .connectionLost),
  TextRule(words: "Recv failure", meaning: .connectionLost),
  TextRule(words: "Send failure", meaning: .connectionLost),
  TextRule(words: "Failed to connect", meaning: .cannotConnect),
  TextRule(words: "Could not resolve", meaning: .cannotFindHost),
  TextRule(words: "Failed writing header", meaning: .badResponse),
  TextRule(words: "Error while processing content", meaning: .badResponse),
  TextRule(words: "Unrecognized content encoding", meaning: .badResponse),
  TextRule(words: "Received HTTP/0.9", meaning: .badResponse),
  TextRule(words: "Header without colon", meaning: .badResponse),
  TextRule(words: "Nul byte in header", meaning: .badResponse),
  TextRule(words: "Invalid Content-Length", meaning: .badResponse),
  TextRule(words: "Unsupported HTTP version", meaning: .badResponse),
  TextRule(words: "Unsupported response code", meaning: .badResponse),
  TextRule(words: "Too large response headers", meaning: .badResponse),
  // libcurl's texts for a header line longer than 100 KB and for a folded first line.
  TextRule(words: "Out of memory", meaning: .badResponse),
  TextRule(words: "A libcurl function was given a bad argument", meaning: .badResponse),
  TextRule(words: "chunked-encoding", meaning: .badResponse, isPrefix: false),
  TextRule(words: "unsupported URL", meaning: .unsupportedURL),
  TextRule(words: "Protocol \"", meaning: .unsupportedURL),
]

/// What the texts say about a response that is not valid HTTP.
private let responseDefects: [TextRule<ResponseDefect>] = [
  TextRule(words: "Received HTTP/0.9", meaning: .notHTTP),
  TextRule(words: "Unsupported response code", meaning: .notHTTP),
  TextRule(words: "Unsupported HTTP version", meaning: .version),
  TextRule(words: "Header without colon", meaning: .field),
  TextRule(words: "Nul byte in header", meaning: .field),
  TextRule(words: "Failed writing header", meaning: .field),
  TextRule(words: "A libcurl function was given a bad argument", meaning: .field),
  TextRule(words: "Too large response headers", meaning: .longHeader),
  TextRule(words: "Out of memory", meaning: .longHeader),
  TextRule(words: "Invalid Content-Length", meaning: .length),
  TextRule(words: "chunked-encoding", meaning: .chunk, isPrefix: false),
  TextRule(words: "Error while processing content", meaning: .coding),
  TextRule(words: "Unrecognized content encoding", meaning: .coding),
]

/// What the texts say about a failure with a code.
private let problemRules: [DownloadFailure.Code: [TextRule<TransferProblem>]] = [
  .cannotConnect: [
    TextRule(words: "Connection refused", meaning: .connectionRefused, isPrefix: false),
    TextRule(
      words: "Network is unreachable",
      meaning: .unreachable(reason: "Network is unreachable"),
      isPrefix: false
    ),
    TextRule(
      words: "No route to host",
      meaning: .unreachable(reason: "No route to host"),
      isPrefix: false
    ),
  ],
  .connectionLost: [
    TextRule(words: "OpenSSL SSL_connect", meaning: .noHandshake),
    TextRule(words: "reset by peer", meaning: .reset, isPrefix: false),
    TextRule(words: "Broken pipe", meaning: .reset, isPrefix: false),
  ],
  .insecure: [
    TextRule(words: "self-signed", meaning: .certificate(.selfSigned), isPrefix: false),
    TextRule(words: "self signed", meaning: .certificate(.selfSigned), isPrefix: false),
    TextRule(words: "issuer certificate", meaning: .certificate(.unknownIssuer), isPrefix: false),
    TextRule(words: "has expired", meaning: .certificate(.expired(day: nil)), isPrefix: false),
    TextRule(
      words: "not yet valid",
      meaning: .certificate(.notYetValid(day: nil)),
      isPrefix: false
    ),
    TextRule(
      words: "no alternative certificate subject name",
      meaning: .certificate(.otherHosts(nil)),
      isPrefix: false
    ),
    TextRule(
      words: "does not match target host name",
      meaning: .certificate(.otherHosts(nil)),
      isPrefix: false
    ),
    TextRule(words: "SSL certificate problem", meaning: .certificate(.untrusted)),
    TextRule(words: "wrong version number", meaning: .noTLS, isPrefix: false),
    TextRule(words: "packet length too long", meaning: .noTLS, isPrefix: false),
    TextRule(words: "http request", meaning: .noTLS, isPrefix: false),
  ],
]
