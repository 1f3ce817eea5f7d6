internal import CommandLineSupport
internal import DownloadAsyncHTTPClient
internal import DownloadStore
internal import DownloadSync

/// A URL that receives the record of each download that has ended, as JSON.
struct Webhook: Sendable {
  /// The URL.
  let url: String
  private let exchange: HTTPExchange

  /// Creates a webhook.
  ///
  /// - Throws: ``CommandFailure`` with `usage` without an HTTP client for it, if a certificate cannot be
  ///   read, or if the client cannot use the proxy of the URL.
  init(_ url: String, _ client: ClientOptions) throws {
    self.url = url
    let settings = try client.settings()
    do {
      exchange = try HTTPExchange(settings)
    } catch let failure as DownloadFailure {
      throw CommandFailure(.usage, "--webhook: \(failure.message)")
    }
    // Also with --transport urlsession, which supports such proxies for downloads.
    guard let proxy = settings.proxies.server(for: url), let obstacle = ProxyObstacle(proxy) else {
      return
    }
    throw CommandFailure(
      .usage,
      "--webhook: async-http-client, which posts to it, does not support \(obstacle.text(proxy)): add "
        + "the host of the webhook to no_proxy"
    )
  }

  /// Posts a record.
  ///
  /// Succeeds if the answer has a status of 2xx. Redirects are not followed.
  ///
  /// - Parameters:
  ///   - record: The record as JSON.
  ///   - hook: The kind of end.
  ///   - key: Names the end: the same for each attempt, so that the receiver recognizes repetitions.
  /// - Returns: What went wrong; `nil` if the receiver has accepted the record.
  func post(_ record: String, _ hook: DownloadHook, key: String) async -> String? {
    let headers = [
      HeaderField(name: "Content-Type", value: "application/json"),
      HeaderField(name: "Idempotency-Key", value: key),
      HeaderField(name: "Dlstore-Event", value: hook.command.rawValue),
      HeaderField(name: "User-Agent", value: "dlstore"),
    ]
    do {
      // The status is the answer: a receiver need not end its body.
      let answer = try await exchange.send(
        "POST",
        url,
        headers: headers,
        body: Array(record.utf8),
        readsBody: false
      )
      guard !(200..<300).contains(answer.status) else { return nil }
      return "\(Redaction.webhook(url)) answered with the status \(answer.status)"
    } catch {
      return "\(Redaction.webhook(url)): \(error)"
    }
  }
}

/// What is done at the end of a download: a command, a webhook, or both.
struct HookActions: Sendable {
  /// The command of each hook.
  var commands: [DownloadHook: UserCommand]
  /// The webhook, for all kinds of ends.
  var webhook: Webhook?

  /// The hooks for which something is done.
  var hooks: Set<DownloadHook> {
    Set(commands.keys).union(webhook == nil ? [] : [.completionWebhook, .failureWebhook])
  }
}
