public import DownloadStore

/// What is to be done about a record, and why.
public struct ReconcileDecision: Sendable, Hashable {
  /// The rules that fired, in their order.
  public var rules: [ReconcileRule]
  /// What to do, in order.
  public var actions: [ReconcileAction]
  /// The state that the record has afterwards; `nil` when there is no record then.
  public var result: DownloadState?
  /// Where the next byte comes from, when bytes are to come.
  public var plan: TransferPlan?
}

/// The rules of reconciliation, by the names that `docs/reconciliation.md` explains.
public enum ReconcileRule: String, Sendable, Hashable, CaseIterable {
  /// The record is to go: delete what is unfinished, then the record.
  case discardEverything = "X1"
  /// The download was given up: delete what is unfinished, keep the record.
  case keepRecordOnly = "X2"
  /// A task works for no record.
  case orphanTask = "N1"
  /// A partial file belongs to no record.
  case orphanPartial = "N4"
  /// Complete, and the file is there.
  case completedPresent = "C1"
  /// Complete, the file is gone, and the partial file has it all.
  case completedFromPartial = "C3"
  /// Complete, and the file is gone.
  case completedMissing = "C4"
  /// Complete, and another file is in its place.
  case completedModified = "C5"
  /// Not complete by the record, but the finished file is ours.
  case alreadyOurs = "A1"
  /// Somebody else's file has the name.
  case nameTaken = "A2"
  /// About to be renamed, and all is there.
  case finishRename = "F1"
  /// About to be renamed, and the bytes are gone.
  case finalizingLost = "F3"
  /// About to be renamed, and a task runs.
  case finalizingLive = "F4"
  /// A task runs as it should.
  case adopt = "T6"
  /// A task runs and must not.
  case stopTask = "T8"
  /// Was running when the process ended.
  case interrupted = "Z1"
  /// Waits for its turn.
  case waitForTurn = "Z2"
  /// Waits for its next try.
  case waitForRetry = "Z3"
  /// Stands still.
  case leave = "Z4"
  /// The partial file has it all: no request.
  case allBytesThere = "P1"
  /// There is no partial file: from zero.
  case noPartial = "P6"
  /// The partial file is as committed: go on from there.
  case continuePartial = "P7"
  /// The partial file is longer than committed: cut it, go on from there.
  case cutLonger = "P8"
  /// The partial file is shorter than committed: its bytes are not trusted.
  case distrustShorter = "P9"
  /// The partial file is longer than the whole: cut it, go on from there.
  case cutOver = "P10"
  /// Nothing would tell whether the entity is still the same: from zero.
  case cannotContinue = "P11"
}

/// What an engine does to files, tasks and events.
public enum ReconcileAction: String, Sendable, Hashable, CaseIterable {
  /// Cancel the live task.
  case cancelTask
  /// Delete the partial file.
  case deletePartial
  /// Commit the record as complete.
  case commitCompleted
  /// Give the partial file its name.
  case placePartial
  /// Choose another name for the finished file.
  case chooseName
  /// Delete the record.
  case deleteRecord
}

/// Where the next byte comes from.
public enum TransferPlan: String, Sendable, Hashable, CaseIterable {
  /// Nowhere: check the partial file and give it its name.
  case finalize
  /// From the first byte on.
  case zero
  /// From the committed offset on.
  case range
}
