/// One thing that is broken on purpose, to see that the simulation finds it.
public enum Defect: String, Sendable, Hashable, CaseIterable {
  /// A sync of a file returns, and nothing is synced.
  case filesAreNotSynced
  /// A sync of a folder returns, and nothing is synced.
  case foldersAreNotSynced
  /// Some files that are deleted stay.
  case filesAreNotDeleted
  /// Some bytes get lost between the network and the sink.
  case bytesGetLost
  /// Some tasks never say that they have ended.
  case endsGetLost
  /// Some requests are sent twice.
  case tasksStartTwice
  /// Nobody tells the engine that others have committed.
  case commitsAreNotTold
  /// A background session's transport does not find the bodies that a dead process has left.
  case deliveriesAreNotAdopted

  /// What must always hold and does not any more.
  public var breaks: Set<Invariant> {
    switch self {
    case .filesAreNotSynced, .bytesGetLost: [.receivedIsOnDisk, .completeIsThere]
    case .foldersAreNotSynced: [.completeIsThere, .receivedIsOnDisk, .noOrphans]
    case .filesAreNotDeleted, .deliveriesAreNotAdopted: [.noOrphans]
    case .endsGetLost, .commitsAreNotTold: [.liveness]
    case .tasksStartTwice: [.oneTask, .limits]
    }
  }
}
