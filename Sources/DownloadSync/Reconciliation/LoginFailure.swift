package import DownloadStore

extension DownloadFailure {
  /// Returns the failure of a response that requires a login, with the reason why none was accepted.
  ///
  /// The server may have refused a login that was sent, or another server may require one, to which
  /// the request was redirected without the credentials for the first (decision 0025).
  ///
  /// - Parameters:
  ///   - head: The head of the response to the first request; `nil` if there is none.
  ///   - source: The URL of that request.
  ///   - headers: The header fields that the user gave; `nil` if there are none.
  /// - Returns: The failure; this one if it is about something else.
  package func explainingLogin(
    _ head: ResponseHead?,
    source: String,
    headers: RequestHeaders?
  ) -> Self {
    guard detail == .login, let head, head.status == 401 else { return self }
    let target = head.url ?? source
    let status = StatusText.named(head.status)
    guard RecordIdentity.origin(of: target) == RecordIdentity.origin(of: source) else {
      return DownloadFailure(
        code,
        "the server redirects to \(target), which requires a login (\(status))",
        detail: .redirectedLogin
      )
    }
    let kinds = head.challenges
    if !kinds.isEmpty, Self.unsupportedLogins.isSuperset(of: kinds.map { $0.lowercased() }) {
      return DownloadFailure(
        code,
        "the server accepts only a login with \(kinds.joined(separator: " or ")), which is not supported"
          + " (\(status))",
        detail: .loginKind
      )
    }
    let sent = headers?.fields(sentTo: target) ?? []
    let hasLogin =
      sent.contains { $0.name.lowercased() == "authorization" }
      || (try? RequestURL(source))?.userInfo != nil
    guard hasLogin || sent.contains(where: Redaction.hides) else { return self }
    return DownloadFailure(
      code,
      "the server refuses the \(hasLogin ? "login" : "header fields") that \(hasLogin ? "was" : "were")"
        + " sent (\(status))",
      detail: .loginRefused
    )
  }

  /// The kinds of logins that take more than a header field.
  private static let unsupportedLogins: Set<String> = ["digest", "ntlm", "negotiate"]

  /// Returns the failure with a hint if the server may have rejected a plain request to a port that
  /// expects TLS.
  ///
  /// Servers answer such a request with 400, and say the reason only in the body. An `http` URL with a
  /// port of its own is the usual cause.
  ///
  /// - Parameters:
  ///   - head: The head of the response to the first request; `nil` if there is none.
  ///   - source: The URL of that request.
  /// - Returns: The failure; this one if it is about something else.
  package func explainingTLS(_ head: ResponseHead?, source: String) -> Self {
    guard code == .rejected, head?.status == 400,
      let url = try? RequestURL(head?.url ?? source), url.scheme == .http, url.port != nil
    else { return self }
    return DownloadFailure(code, "\(message); the port may expect https", detail: .mayExpectTLS)
  }
}

extension ResponseHead {
  /// The schemes of the challenges in `WWW-Authenticate` (RFC 9110, 11.6.1), such as `Basic`, each once.
  var challenges: [String] {
    let values = fields.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value)
    var schemes: [String] = []
    for part in values.flatMap(Self.unquotedParts) {
      let words = part.split(separator: " ", maxSplits: 1)
      // A part with an equals sign behind its first word is a parameter of the scheme before it.
      guard let word = words.first, !word.contains("="),
        words.count < 2 || !words[1].trimmingPrefix(" ").hasPrefix("="),
        !schemes.contains(where: { $0.lowercased() == word.lowercased() })
      else { continue }
      schemes.append(String(word))
    }
    return schemes
  }

  /// Splits a value at its commas, without the contents of quoted strings.
  private static func unquotedParts(_ value: String) -> [Substring] {
    var text = ""
    var (isQuoted, isEscaped) = (false, false)
    for character in value {
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if !isQuoted {
        text.append(character)
      }
    }
    return text.split(separator: ",")
  }
}
