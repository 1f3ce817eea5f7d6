/// A snapshot of a live task.
public struct TaskSnapshot: Sendable, Hashable {
  /// The state of a task; only a ``BackgroundTransport`` uses states other than `running`.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The task transfers bytes or waits for the network.
    case running
    /// The task is suspended until it is resumed.
    case suspended
    /// The task was cancelled and has not ended yet.
    case canceling
    /// The task has ended, and no sink has received its outcome.
    case ended
  }

  /// The task's id.
  public var id: TaskID
  /// The id of the task's record.
  public var recordID: String
  /// The number of body bytes passed to the sink so far, without those before ``offset``; for a
  /// ``BackgroundTransport``, the number of bytes that it has stored.
  public var bytesReceived: Int64
  /// The first requested byte.
  public var offset: Int64
  /// The state of the task.
  public var state: State
  /// Whether a ``BackgroundTransport`` has stored the whole body, from ``offset`` on.
  public var isDelivered: Bool

  /// Creates a snapshot.
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
