public import DownloadSync

/// A snapshot of a running task of a ``SimulatedTransport``.
///
/// ```swift
/// for task in transport.tasks where !task.isCancelled {
///   print(task.request.url, task.bytesSent, task.isComplete)
/// }
/// ```
public struct SimulatedTask: Sendable, Hashable {
  /// The id.
  public var id: TaskID
  /// The request.
  public var request: TaskRequest
  /// The response; `nil` until the head is sent.
  public var answer: SimulatedAnswer?
  /// The number of body bytes that the sink has received.
  public var bytesSent: Int64 = 0
  /// Whether the task was cancelled.
  public var isCancelled = false
  /// Whether the sink refused further bytes.
  public var isRefused = false

  /// Whether the sink has received the whole body.
  public var isComplete: Bool { answer.map { bytesSent == $0.byteCount } ?? false }

  /// The next range of the response's body; empty if there is none.
  func next(atMost byteCount: Int64) -> Range<Int64> {
    guard let answer else { return 0..<0 }
    return bytesSent..<min(answer.byteCount, bytesSent + max(1, byteCount))
  }
}
