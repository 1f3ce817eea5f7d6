internal import DownloadStore
internal import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The session's delegate: forwards its callbacks to sinks, on the delegate queue.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
  private let table: TaskTable
  private let sessionTasks: SessionTaskQueue
  private let limiter: RateLimiter
  /// Whether `https` requests may pass through a tunnel, so that a proxy answers before the server.
  private let mayTunnel: Bool
  /// The proxies, for messages.
  ///
  /// Empty on Apple platforms, where they are those of the system.
  private let proxies: ProxySettings
  private let batch = DataBatch()

  init(
    table: TaskTable,
    sessionTasks: SessionTaskQueue,
    limiter: RateLimiter,
    mayTunnel: Bool = false,
    proxies: ProxySettings = ProxySettings()
  ) {
    self.mayTunnel = mayTunnel
    self.proxies = proxies
    self.table = table
    self.sessionTasks = sessionTasks
    self.limiter = limiter
  }

  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    // Linux ignores the disposition, so a sink's refusal is handled as a cancel.
    completionHandler(.allow)
    flush()
    guard let task = table[dataTask] else { return }
    // Linux reports 100 and 103 like final responses. They do not reset the idle time: a server
    // that sends only interim responses has to time out.
    guard let response = response as? HTTPURLResponse, response.statusCode >= 200 else { return }
    task.sawEvent()
    // The answer to CONNECT looks like the answer of the server: taken for it, the 200 would restart
    // a download whose 206 follows.
    if mayTunnel, task.prepared?.url.scheme == .https {
      return task.hold(ResponseHead(response, to: task.prepared))
    }
    if !task.receive(ResponseHead(response, to: task.prepared)) {
      sessionTasks.cancelSessionTask(of: task)
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let queue = session.delegateQueue as? DelegateQueue
    queue?.noteChunk()
    // Queued data still arrives after a cancel; it must not be charged to the rate limit. Data
    // after an interim response alone is not a body.
    guard let task = table[dataTask], !task.gate.hasEnded else { return }
    if let head = task.takeHeldHead(), !task.receive(head) {
      return sessionTasks.cancelSessionTask(of: task)
    }
    guard task.gate.hasHead else { return }
    task.sawEvent()
    // A busy queue calls `flush` soon. With a rate limit, each piece waits for its turn.
    if !limiter.isLimited, queue?.isBusy == true { return batch.add(data, of: task) }
    flush()
    deliver(data.span, to: task)
  }

  /// Passes the collected data to the sinks.
  ///
  /// Must be called on the delegate queue, and before any other event of a task.
  func flush() {
    for pieces in batch.takeAll() where !pieces.task.gate.hasEnded {
      batch.join(pieces) { deliver($0, to: pieces.task) }
    }
  }

  private func deliver(_ bytes: Span<UInt8>, to task: LiveTask) {
    limiter.block(for: bytes.count) { !task.gate.hasEnded }
    if !task.receive(bytes) { sessionTasks.cancelSessionTask(of: task) }
  }

  func urlSession(
    _ session: URLSession,
    task sessionTask: URLSessionTask,
    didCompleteWithError error: (any Error)?
  ) {
    flush()
    guard let task = table.unbind(sessionTask) else { return }
    // Linux takes a response whose `Location` Foundation cannot parse for a final one.
    if error == nil, !task.gate.hasHead, let prepared = task.prepared, prepared.followsRedirects,
      let response = sessionTask.response as? HTTPURLResponse,
      RedirectDecision.statuses.contains(response.statusCode),
      response.value(forHTTPHeaderField: "Location")?.isEmpty == false
    {
      return follow(response, to: prepared, of: task, in: session)
    }
    // If the request failed, a held head with an error status is that of a proxy that refused it.
    if let head = task.takeHeldHead(), error == nil || head.status >= 400 {
      guard task.receive(head) else { return }
    }
    var outcome =
      error.map { error in
        let limit = Duration.seconds(session.configuration.timeoutIntervalForRequest)
        return DownloadURLSession.outcome(of: error, peers(of: task), silence: limit)
      } ?? .completed
    // Linux does not report a redirect without a `Location`, but keeps the response.
    if error == nil, !task.gate.hasHead, let response = sessionTask.response as? HTTPURLResponse {
      if response.statusCode >= 200 {
        guard task.receive(ResponseHead(response, to: task.prepared)) else { return }
      } else {
        outcome = .failed(
          DownloadFailure(
            .badResponse,
            "the server sent no final response (\(response.statusCode))"
          )
        )
      }
    }
    _ = task.detach()
    if task.gate.settle(outcome) { task.gate.finish() }
  }

  /// The peers of the last request of a task.
  private func peers(of task: LiveTask) -> TransferPeers {
    guard let url = task.prepared?.url else { return .unnamed }
    return TransferPeers(url, through: proxies.server(for: url))
  }

  func urlSession(
    _ session: URLSession,
    task sessionTask: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // The redirected request is a new session task, and this one is abandoned. On Linux the handler
    // must not be called: if the idle timer fires or the task is cancelled between this callback
    // and the handler, the handler crashes the process ("we're not waiting for it").
    #if !canImport(FoundationNetworking)
      completionHandler(nil)
    #endif
    flush()
    guard let task = table.unbind(sessionTask) else { return }
    task.sawEvent()
    guard let prepared = task.prepared else { return }
    guard RedirectDecision.statuses.contains(response.statusCode), prepared.followsRedirects else {
      // Linux also treats 305 and 306 as redirects.
      sessionTasks.cancel(sessionTask)
      guard task.receive(ResponseHead(response, to: task.prepared)) else { return }
      if task.gate.settle(.completed) { task.gate.finish() }
      return
    }
    sessionTasks.cancel(sessionTask)
    follow(response, to: prepared, of: task, in: session)
  }

  /// Sends the request that follows a redirect, or ends the task.
  private func follow(
    _ response: HTTPURLResponse,
    to prepared: PreparedRequest,
    of task: LiveTask,
    in session: URLSession
  ) {
    let decision = RedirectDecision(
      prepared,
      to: response.value(forHTTPHeaderField: "Location"),
      setCookies: response.value(forHTTPHeaderField: "Set-Cookie")
        .map { RedirectCookies.separated($0) } ?? []
    )
    switch decision {
    case .follow(let next): sessionTasks.open(next, for: task, in: session)
    case .refuse(let reason):
      sessionTasks.end(task, .failed(DownloadFailure(.badRedirect, reason)))
    }
  }

  func urlSession(
    _ session: URLSession,
    task sessionTask: URLSessionTask,
    didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (
        URLSession.AuthChallengeDisposition, URLCredential?
      ) -> Void
  ) {
    #if canImport(FoundationNetworking)
      // Only a 401 arrives here, after its whole body. With the default handling the task would
      // neither end nor time out on 6.3.1; the other dispositions cancel the task on this thread,
      // which may deadlock. The response is complete, so the task ends here.
      guard let task = table.unbind(sessionTask) else { return }
      _ = task.detach()
      sessionTasks.cancel(sessionTask)
      if !task.gate.hasHead, let response = challenge.failureResponse as? HTTPURLResponse,
        !task.receive(ResponseHead(response, to: task.prepared))
      {
        return
      }
      if task.gate.settle(.completed) { task.gate.finish() }
    #else
      // The default handling rejects untrusted certificates and passes a 401 on.
      completionHandler(.performDefaultHandling, nil)
    #endif
  }
}
