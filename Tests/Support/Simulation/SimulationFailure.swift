/// A violated invariant.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
  /// The seed that reproduces the failure.
  public var seed: UInt64
  /// The step after which the violation was detected.
  public var step: Int
  /// The violated invariant.
  public var invariant: Invariant
  /// The observed state.
  public var message: String

  /// The seed, the step, the invariant and the state.
  public var description: String {
    "seed \(seed), step \(step): \(invariant.rawValue): \(message)"
  }
}

/// An invariant of every run.
public enum Invariant: String, Sendable, Hashable, CaseIterable {
  /// The bytes that a record counts are correct, and durable under a durable name.
  case receivedIsOnDisk = "counted bytes are on disk"
  /// A complete record has its complete and correct file, and a power cut does not change that.
  case completeIsThere = "complete files exist"
  /// A record has at most one task of an engine.
  case oneTask = "at most one task per record"
  /// Once an engine has been notified of all commits and waits, each task that it has started and
  /// not cancelled requests a URL of a record.
  case tasksHaveRecords = "no task runs on without its record"
  /// The number of running tasks does not exceed the limits.
  case limits = "the limits are respected"
  /// A generation ends once.
  case oneEnd = "a generation ends once"
  /// The generation of a record never decreases.
  case generationsGrow = "generations grow"
  /// Every change of the state or the intent of a record is one that the state machine allows.
  case statesFollowTheTable = "states change as the table says"
  /// A cancelled refresh does not report the failure of an attempt.
  case cancelsHaveNoFailure = "a cancelled refresh has not failed"
  /// The file that a download replaces keeps its name until another file gets it.
  case replacedFilesStay = "replaced files stay until they are replaced"
  /// Foreign files are not changed.
  case foreignFilesStay = "foreign files are unchanged"
  /// The command after each end succeeds once, or is marked to run.
  case hooksRun = "hooks are not forgotten"
  /// An engine that ends when it is idle leaves nothing that it could do.
  case idleEnds = "an idle engine has nothing to do"
  /// In the idle state every file belongs to a record.
  case noOrphans = "every file has a record"
  /// A download that is neither paused nor cancelled finishes once the faults have ended.
  case liveness = "active downloads finish"
  /// An engine fails only because a disk is full.
  case engineKeepsRunning = "the engine keeps running"
}
