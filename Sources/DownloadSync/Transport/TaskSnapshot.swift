/// A live task as a value.
public struct TaskSnapshot: Sendable, Hashable {
  /// What a task is doing; those of most transports run until they are forgotten.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// It moves bytes, or waits for the network.
    case running
    /// It does nothing until it is resumed.
    case suspended
    /// It was asked to end, and has not.
    case canceling
    /// It has ended, and nobody has heard how.
    case ended
  }

  /// The task's name within its transport.
  public var id: TaskID
  /// The record that the task works for.
  public var recordID: String
  /// Body bytes handed to the sink so far, not counting those before the request's offset; of a
  /// ``BackgroundTransport`` those that it holds.
  public var bytesReceived: Int64
  /// The first byte that was asked for.
  public var offset: Int64
  /// What it is doing.
  public var state: State
  /// Whether a ``BackgroundTransport`` has its whole body, from ``offset`` on.
  public var isDelivered: Bool

  /// Describes a live task.
  public init(
    id: TaskID,
    recordID: String,
    bytesReceived: Int64,
    offset: Int64 = 0,
    state: State = .running,
    isDelivered: Bool = false
  ) {
    self.id = id
    self.recordID = recordID
    self.bytesReceived = bytesReceived
    self.offset = offset
    self.state = state
    self.isDelivered = isDelivered
  }
}
