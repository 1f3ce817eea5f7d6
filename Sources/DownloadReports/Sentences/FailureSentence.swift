package import DownloadStore
internal import DownloadSync
internal import ProgramOutput

/// The sentences about failed downloads for people: what happened, and what the user can do.
///
/// What happened is the message of the failure, from the layer that has found it. The layers do not
/// know the options of the tool, so the advice is given here.
package enum FailureSentence {
  /// Returns what happened, with the download's own URLs redacted.
  package static func reason(_ failure: DownloadFailure, _ record: DownloadRecord) -> String {
    reason(failure, [record.url] + record.mirrors)
  }

  /// Returns what happened, with these URLs redacted.
  package static func reason(_ failure: DownloadFailure, _ urls: [String]) -> String {
    urls.reduce(failure.message) { $0.replacing($1, with: Redaction.url($1)) }
  }

  /// Returns what happened to a download that is not tried again, and what the user can do.
  ///
  /// - Parameters:
  ///   - failure: The failure.
  ///   - record: The download.
  ///   - isRepeatable: Whether the same command tries again, as `get` does.
  ///   - advice: What the user can do; `nil` for the commands of `dlstore`.
  /// - Returns: The text, without a full stop.
  package static func text(
    _ failure: DownloadFailure,
    _ record: DownloadRecord,
    isRepeatable: Bool = false,
    advice: String? = nil
  ) -> String {
    let attempts = record.failedAttempts
    let count = attempts > 1 && failure.code.isRetryable ? " (\(attempts) attempts)" : ""
    let advice = advice ?? Self.advice(for: failure, record, isRepeatable: isRepeatable)
    var (source, others) = ("", "")
    if let (url, rest) = otherSources(of: record) {
      source = "\(Redaction.url(url)): "
      others = rest.map { "; \($0)" }.joined()
    }
    return "\(source)\(reason(failure, record))\(count)\(others); \(advice)"
  }

  /// Returns the URL that failed last, and why the other sources have failed, at most three; `nil` if
  /// only one has.
  private static func otherSources(of record: DownloadRecord) -> (url: String, others: [String])? {
    let attempts = record.countedAttempts
    guard !record.mirrors.isEmpty, let last = attempts.last else { return nil }
    var named: Set = [last.url]
    let others = attempts.reversed().filter { named.insert($0.url).inserted }
    guard !others.isEmpty else { return nil }
    var reasons = others.prefix(3).map { attempt in
      "\(Redaction.url(attempt.url)): \(reason(attempt.failure, record))"
    }
    if others.count > 3 { reasons.append("and \(others.count - 3) other mirrors") }
    return (last.url, reasons)
  }

  /// Returns what the user can do about a failure.
  ///
  /// - Parameters:
  ///   - failure: The failure, after which the download is not tried again.
  ///   - record: The download.
  ///   - isRepeatable: Whether the same command tries again. After `get` no engine runs that would
  ///     carry out a `resume`.
  /// - Returns: The advice, without a full stop.
  package static func advice(
    for failure: DownloadFailure,
    _ record: DownloadRecord,
    isRepeatable: Bool = false
  ) -> String {
    let id = record.id
    let command = record.refreshFailure == nil ? "resume" : "refresh"
    let again = SuggestedCommand.text("\(command) \(id)")
    let resume = isRepeatable ? "the same command tries again" : "\(again) tries again"
    let restart = isRepeatable ? "the same command" : SuggestedCommand.text("restart \(id)")
    let newURL = SuggestedCommand.text("set \(id) --url URL")
    if let detail = failure.detail, failure.code != .needsURL {
      let advice = advice(for: detail, record, resume: resume, newURL: newURL, isRepeatable)
      return failure.code == .timedOut ? "--timeout sets the limit; \(advice)" : advice
    }
    return switch failure.code {
    case .cannotConnect where isLinkLocal(record), .unsupportedURL where isLinkLocal(record):
      "a link-local address needs a zone, such as %eth0, which is not supported: \(newURL) sets another "
        + "address of the server"
    case .cannotFindHost: "check the spelling of the URL: \(newURL) corrects it"
    case .timedOut: "--timeout sets the limit; \(resume)"
    case .insecure: "ask the owner of the server to correct this"
    case .badRedirect: "\(newURL) sets the address of the file"
    case .unsupportedURL: "\(newURL) corrects the URL"
    case .refused: "if the link has expired, \(newURL) sets a new one"
    case .needsURL: "\(newURL) sets a new link"
    case .notFound where record.refreshFailure != nil:
      "check the URL: \(newURL) corrects it, and \(SuggestedCommand.text("remove \(id)")) forgets it "
        + "and keeps the file"
    case .notFound: "check the URL: \(newURL) corrects it"
    case .unexpectedCoding: "another server may send the plain file: --mirror URL adds one"
    case .digestMismatch where record.refreshFailure != nil: rightDigest(record)
    case .digestMismatch:
      "the bytes are deleted; \(rightDigest(record)); \(restart) downloads the file again"
    case .diskFull: "free some space; \(resume)"
    // The file is complete, and did not get its name. Disks have different errors for names that they
    // do not accept.
    case .fileSystem
    where record.fileIdentity != nil && record.completedAt == nil && record.refreshFailure == nil:
      "if its disk does not accept the name, \(SuggestedCommand.text("set \(id) --filename NAME")) gives the "
        + "file another one, otherwise correct the folder or its permissions; \(resume)"
    case .fileSystem: "correct the folder or its permissions; \(resume)"
    case .tooLarge: "--max-file-size sets the limit; \(resume)"
    case .quarantined: "\(resume), and --transport NAME uses another client"
    case .interceptorFailed:
      "correct the command of --url-command, or the check that refused the response; \(resume)"
    case .rejected: "check the URL and the header fields; \(resume)"
    case .cannotConnect, .connectionLost, .badResponse, .serverBusy, .wrongLength,
      .entityChanged,
      .pieceMismatch, .fileInUse, .outOfResources, .fileUnavailable, .unknown:
      resume
    }
  }

  /// Returns what the user can do about a download that is tried again although its URL is probably
  /// wrong: there is no such host, and no server has answered; `nil` for any other.
  ///
  /// A host that was reached before is found again when the network returns.
  package static func advice(beforeRetryOf record: DownloadRecord) -> String? {
    guard let last = record.attempts.last, last.url == record.url,
      record.received == 0, record.refreshed == nil,
      record.attempts.allSatisfy({ $0.failure.code == .cannotFindHost && $0.failure.detail == nil })
    else { return nil }
    return advice(for: last.failure, record)
  }

  private static func advice(
    for detail: DownloadFailure.Detail,
    _ record: DownloadRecord,
    resume: String,
    newURL: String,
    _ isRepeatable: Bool
  ) -> String {
    switch detail {
    case .proxy: "check --proxy, or http_proxy and https_proxy in the environment; \(resume)"
    case .login: "add the URL again with --netrc or --header 'Authorization: …'"
    case .loginRefused: "add the URL again with the right login or header fields"
    case .loginKind:
      "only Basic and Bearer are supported: ask the owner of the server for one of them or for a link, "
        + "or use 'curl --anyauth'"
    case .redirectedLogin:
      "the login for the first server is not sent there: use that URL with --netrc"
    case .proxyLogin: "give user and password in the URL of --proxy"
    case .untrustedIssuer: "if you trust it, name it with --ca-certificate FILE"
    case .otherHostName:
      "if that is the same server, use the name of the certificate in the URL: \(newURL) changes it"
    case .tlsVersion: "--tls-min 1.2 accepts the older version"
    case .unpinnedKey:
      "if this is the right key, correct --pinned-key; otherwise another server may have answered"
    case .addressFamily:
      "to use its other addresses, omit --ipv4, --ipv6 and --interface"
        + (isRepeatable ? "" : "; \(resume)")
    case .folderMissing:
      "if it was moved, "
        + SuggestedCommand.text(
          "root set \(record.root == RootName.standard ? "" : "\(record.root) ")FOLDER"
        ) + " names the new place of its root; \(resume)"
    case .unknownRoot: "\(SuggestedCommand.text("root list")) shows the roots; \(resume)"
    case .nameTaken:
      "move that file away, or give the download another name with "
        + "\(SuggestedCommand.text("set \(record.id) --filename NAME")); \(resume)"
    case .noTLS: "if it is an http server, " + url(record, with: "http", newURL, isRepeatable)
    case .mayExpectTLS:
      "if it does, " + url(record, with: "https", newURL, isRepeatable) + "; otherwise \(resume)"
    }
  }

  /// Whether the last request was to a link-local IPv6 address (RFC 4291, 2.5.6): which network it is in,
  /// only a zone says.
  private static func isLinkLocal(_ record: DownloadRecord) -> Bool {
    guard let url = try? RequestURL(record.attempts.last?.url ?? record.url),
      let address = AddressRange(url.host)
    else { return false }
    return AddressRange("fe80::/10")?.contains(address) == true
  }

  /// Returns the advice for a file that has another digest or size than the required one.
  private static func rightDigest(_ record: DownloadRecord) -> String {
    guard record.expectedDigest != nil else { return "compare the size with the published one" }
    guard record.keys.isEmpty else {
      // Its key requires this digest, and its URL may be that of another download.
      let remove = SuggestedCommand.text("remove \(record.id)")
      return "if another checksum is published, add the URL with that one and another --key; "
        + "\(remove) forgets this download"
    }
    // Without its fragment, it would be the URL of another download.
    let isShown = record.url.contains("#") && Redaction.url(record.url) == record.url
    let url = isShown ? ShellWord.quoted(record.url) : "URL"
    let get = SuggestedCommand.text("get \(url) --checksum ALGORITHM:HEX")
    return "if another checksum is published, \(get) requires that one"
  }

  /// Returns how the URL of a download gets another scheme.
  private static func url(
    _ record: DownloadRecord,
    with scheme: String,
    _ newURL: String,
    _ isRepeatable: Bool
  ) -> String {
    let set = "\(newURL) changes the URL"
    let url = record.attempts.last?.url ?? record.url
    // A mirror has no command of its own, and a URL with a secret is not shown.
    guard url == record.url, Redaction.url(url) == url, let end = url.firstRange(of: "://") else {
      return set
    }
    let use = "use \(scheme)\(url[end.lowerBound...])"
    return isRepeatable ? use : "\(use): \(set)"
  }
}
