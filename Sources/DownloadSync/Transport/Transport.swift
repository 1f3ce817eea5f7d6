public import Foundation

/// Starts and cancels the tasks that transfer bytes, and lists the live ones.
///
/// A transport knows nothing of records. One transport serves all downloads of an engine. No method
/// waits for the network, and all may be called from any thread.
public protocol Transport: Sendable {
  /// Starts a task and returns immediately.
  ///
  /// The sink receives all events of the task, on a queue that the transport chooses. A task that
  /// cannot start, for example because its URL is not supported, also ends through the sink.
  func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID

  /// Cancels a task.
  ///
  /// Its sink receives ``TaskSink/finish(_:)`` exactly once, with ``TaskOutcome/cancelled`` unless
  /// the task had already ended.
  func cancel(_ task: TaskID)

  /// The tasks whose sinks have not received the outcome yet.
  func liveTasks() async -> [TaskSnapshot]
}

/// Receives the events of one task.
///
/// The transport makes one call at a time: any number of ``receive(_:)-(ResponseHead)`` and
/// ``receive(_:)-(Span<UInt8>)``, then ``finish(_:)`` exactly once, and no call after it. A slow
/// sink slows the transfer down. This back-pressure bounds memory.
public protocol TaskSink: Sendable {
  /// Receives the head of a final response: not a 1xx, and not a redirect that is followed.
  func receive(_ head: ResponseHead) -> BodyDisposition

  /// Receives the next bytes of the body, which are valid only during the call.
  func receive(_ bytes: Span<UInt8>) -> BodyDisposition

  /// Receives the number of bytes that the transport has stored so far, and the total if it is
  /// known.
  ///
  /// Only a ``BackgroundTransport`` calls this.
  func report(held byteCount: Int64, of total: Int64?)

  /// Receives the resume data of a task that ends early; ``finish(_:)`` follows.
  ///
  /// Only a ``BackgroundTransport`` calls this.
  func receive(resumeData: Data)

  /// Receives the outcome of the task. This is the last call.
  func finish(_ outcome: TaskOutcome)
}

extension TaskSink {
  /// Does nothing; sufficient for sinks that are not used with a ``BackgroundTransport``.
  public func report(held byteCount: Int64, of total: Int64?) {}

  /// Does nothing; sufficient for sinks that are not used with a ``BackgroundTransport``.
  public func receive(resumeData: Data) {}
}

/// A sink's answer to a head or to bytes: whether to continue the transfer.
public enum BodyDisposition: Sendable, Hashable {
  /// Continue the transfer.
  case proceed
  /// Cancel the task. The sink receives no further bytes, and the outcome is
  /// ``TaskOutcome/cancelled``.
  case cancel
}
