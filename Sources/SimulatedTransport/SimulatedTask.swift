public import DownloadSync

/// A task of a ``SimulatedTransport`` that has not ended, as a value.
public struct SimulatedTask: Sendable, Hashable {
  /// Its name.
  public var id: TaskID
  /// What was asked for.
  public var request: TaskRequest
  /// What is answered; `nil` until the head is sent.
  public var answer: SimulatedAnswer?
  /// How many bytes of the body the sink has had.
  public var bytesSent: Int64 = 0
  /// Whether somebody asked for the end.
  public var isCancelled = false
  /// Whether the sink wants no more bytes.
  public var isRefused = false

  /// Whether the sink has had the whole body.
  public var isComplete: Bool { answer.map { bytesSent == $0.byteCount } ?? false }

  /// The bytes that are sent next, counted from the start of the answer; empty when there are none.
  func next(atMost byteCount: Int64) -> Range<Int64> {
    guard let answer else { return 0..<0 }
    return bytesSent..<min(answer.byteCount, bytesSent + max(1, byteCount))
  }
}
