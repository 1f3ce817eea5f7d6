/// What must always hold did not hold.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
  /// The seed that has it happen again.
  public var seed: UInt64
  /// The step after which it was seen.
  public var step: Int
  /// What must always hold.
  public var invariant: Invariant
  /// What was there in its place.
  public var message: String

  /// The seed, the step and what happened.
  public var description: String {
    "seed \(seed), step \(step): \(invariant.rawValue): \(message)"
  }
}

/// What must always hold.
public enum Invariant: String, Sendable, Hashable, CaseIterable {
  /// What a record counts as received is synced, under a synced name, and right.
  case receivedIsOnDisk = "what is counted is on disk"
  /// A complete record has its file, whole and right, and a power cut does not change that.
  case completeIsThere = "what is complete is there"
  /// At most one task of an engine works for a record.
  case oneTask = "one task a record"
  /// No more tasks run than may.
  case limits = "the limits hold"
  /// A generation ends once.
  case oneEnd = "one end a generation"
  /// The generation of a record only grows.
  case generationsGrow = "generations grow"
  /// Files of others stay as they are.
  case foreignFilesStay = "files of others stay"
  /// At rest, no file is there that no record owns.
  case noOrphans = "nothing is left over"
  /// What nobody paused or cancelled finishes once the faults are over.
  case liveness = "what may go on does"
  /// An engine fails for no other reason than that a disk is full.
  case engineLives = "the engine goes on"
}
