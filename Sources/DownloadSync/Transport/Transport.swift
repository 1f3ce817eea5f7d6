public import Foundation

/// The live side of a download: starts tasks, cancels them, and says which are running.
///
/// A transport moves bytes and knows nothing of records. One value serves every download of an
/// engine. All methods return without waiting for the network and may be called from any thread.
public protocol Transport: Sendable {
  /// Starts one task and returns at once.
  ///
  /// Everything that happens to the task is told to `sink`, on a queue of the transport's choice.
  /// A task that cannot even be started (an unsupported URL, say) also ends through `sink`.
  func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID

  /// Asks a task to end; its sink still hears ``TaskSink/finish(_:)`` once, with
  /// ``TaskOutcome/cancelled`` unless it had ended before.
  func cancel(_ task: TaskID)

  /// The tasks that have not told their sink the outcome yet.
  func liveTasks() async -> [TaskSnapshot]
}

/// Hears what happens to one task.
///
/// The transport calls one method at a time: any number of ``receive(_:)-(ResponseHead)`` and
/// ``receive(_:)-(Span<UInt8>)``, then ``finish(_:)`` exactly once, and nothing after it. A slow
/// sink slows the transfer down: this is the back-pressure that keeps memory bounded.
public protocol TaskSink: Sendable {
  /// The head of a final response (never a 1xx, never a redirect that is followed).
  func receive(_ head: ResponseHead) -> BodyDisposition

  /// The next bytes of the body, lent for the length of the call.
  func receive(_ bytes: Span<UInt8>) -> BodyDisposition

  /// How many bytes the task has of how many, where the transport keeps them to itself so far.
  ///
  /// Only a ``BackgroundTransport`` tells it.
  func report(held byteCount: Int64, of total: Int64?)

  /// What the task leaves for another one to go on from; the end follows.
  ///
  /// Only a ``BackgroundTransport`` tells it.
  func receive(resumeData: Data)

  /// The end of the task. The last call that a sink gets.
  func finish(_ outcome: TaskOutcome)
}

extension TaskSink {
  /// Does nothing: for sinks that are given to no ``BackgroundTransport``.
  public func report(held byteCount: Int64, of total: Int64?) {}

  /// Does nothing: for sinks that are given to no ``BackgroundTransport``.
  public func receive(resumeData: Data) {}
}

/// Whether a sink wants (more of) the body.
public enum BodyDisposition: Sendable, Hashable {
  /// Go on.
  case proceed
  /// Cancel the task. No further bytes reach the sink; its outcome is ``TaskOutcome/cancelled``.
  case cancel
}
