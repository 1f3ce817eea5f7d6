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
}
