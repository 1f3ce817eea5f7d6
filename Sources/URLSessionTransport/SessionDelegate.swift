internal import DownloadStore
internal import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Turns what the session says into calls to sinks, on the delegate queue.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
  private let table: TaskTable
  private let hops: HopQueue
  private let limiter: RateLimiter

  init(table: TaskTable, hops: HopQueue, limiter: RateLimiter) {
    self.table = table
    self.hops = hops
    self.limiter = limiter
  }

  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    // Linux ignores the disposition, so a sink's refusal takes the way of every cancel instead.
    completionHandler(.allow)
    guard let task = table[dataTask] else { return }
    // Linux reports 100 and 103 like final responses. They do not count as a sign of life either: a
    // server that sends nothing else for ever has to time out.
    guard let response = response as? HTTPURLResponse, response.statusCode >= 200 else { return }
    task.sawEvent()
    if !task.receive(ResponseHead(response)) { hops.cancelHop(of: task) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    // What is queued still comes after a cancel; it must cost neither time nor the rate limit. And
    // what follows an interim response alone is not a body.
    guard let task = table[dataTask], !task.gate.hasEnded, task.gate.hasHead else { return }
    task.sawEvent()
    limiter.sleep(for: data.count) { !task.gate.hasEnded }
    if !task.receive(data.span) { hops.cancelHop(of: task) }
  }

  func urlSession(
    _ session: URLSession,
    task sessionTask: URLSessionTask,
    didCompleteWithError error: (any Error)?
  ) {
    guard let task = table.unbind(sessionTask) else { return }
    var outcome = error.map(outcome(of:)) ?? .completed
    // Linux tells nothing of a redirect without a `Location`, but keeps the response.
    if error == nil, !task.gate.hasHead, let response = sessionTask.response as? HTTPURLResponse {
      if response.statusCode >= 200 {
        guard task.receive(ResponseHead(response)) else { return }
      } else {
        outcome = .failed(
          TaskFailure(code: .badResponse, message: "no final response (\(response.statusCode))")
        )
      }
    }
    _ = task.detach()
    if task.gate.settle(outcome) { task.gate.finish() }
  }

  func urlSession(
    _ session: URLSession,
    task sessionTask: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // The next hop is a session task of its own and this one is abandoned. On Linux the handler must
    // not be called: if the idle timer fires, or a cancel is carried out, between this call and the
    // handler, then the handler ends the process ("we're not waiting for it").
    #if !canImport(FoundationNetworking)
      completionHandler(nil)
    #endif
    guard let task = table.unbind(sessionTask) else { return }
    task.sawEvent()
    guard let hop = task.hop else { return }
    guard RedirectDecision.statuses.contains(response.statusCode) else {
      // Linux takes 305 and 306 for redirects too.
      hops.cancel(sessionTask)
      guard task.receive(ResponseHead(response)) else { return }
      if task.gate.settle(.completed) { task.gate.finish() }
      return
    }
    switch RedirectDecision(hop, to: response.value(forHTTPHeaderField: "Location")) {
    case .follow(let next):
      hops.cancel(sessionTask)
      hops.open(next, for: task, in: session)
    case .refuse(let reason):
      hops.end(task, .failed(TaskFailure(code: .badRedirect, message: reason)))
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
      // Only a 401 comes here, after its whole body. Left to the default, the task would neither end
      // nor time out on 6.3.1; the other answers cancel the task on this very thread, which may
      // deadlock. The response is complete, so the task is.
      guard let task = table.unbind(sessionTask) else { return }
      _ = task.detach()
      hops.cancel(sessionTask)
      if !task.gate.hasHead, let response = challenge.failureResponse as? HTTPURLResponse,
        !task.receive(ResponseHead(response))
      {
        return
      }
      if task.gate.settle(.completed) { task.gate.finish() }
    #else
      // The default refuses certificates that the system does not trust, and lets a 401 through.
      completionHandler(.performDefaultHandling, nil)
    #endif
  }
}
