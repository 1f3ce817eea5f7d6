/// An injected defect, which the simulation must detect.
public enum Defect: String, Sendable, Hashable, CaseIterable {
  /// Syncs of files succeed and sync nothing.
  case filesAreNotSynced
  /// Syncs of folders succeed and sync nothing.
  case foldersAreNotSynced
  /// Some deletions of files are skipped.
  case filesAreNotDeleted
  /// Some bytes are lost between the network and the sink.
  case bytesGetLost
  /// Some tasks never report their end.
  case endsGetLost
  /// Some requests are sent twice.
  case tasksStartTwice
  /// The engine is not notified of commits by other processes.
  case commitsAreNotNotified
  /// The transport of a background session does not find the files that a killed process left.
  case deliveriesAreNotAdopted
  /// A partial file that another program overwrites keeps its modification time.
  case overwritesAreNotDated

  /// The invariant that the defect violates.
  public var breaks: Set<Invariant> {
    switch self {
    case .filesAreNotSynced, .bytesGetLost: [.receivedIsOnDisk, .completeIsThere]
    case .foldersAreNotSynced: [.completeIsThere, .receivedIsOnDisk, .noOrphans]
    case .overwritesAreNotDated: [.completeIsThere]
    case .filesAreNotDeleted, .deliveriesAreNotAdopted: [.noOrphans]
    case .endsGetLost, .commitsAreNotNotified: [.liveness]
    case .tasksStartTwice: [.oneTask, .limits]
    }
  }
}
