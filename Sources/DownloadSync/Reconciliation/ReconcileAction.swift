internal import DownloadStore

/// A step of a decision: what to do with a record, its task, its files or its resume data.
///
/// ``ReconcileEffects`` translates each action into what the engine does. The raw values are those
/// printed by `dlstore explain` and in `docs/reconciliation.md`.
package enum ReconcileAction: String, Sendable, Hashable, CaseIterable {
  // MARK: Tasks

  /// Keep, of several tasks, the one that has received the most bytes.
  case keepMostBytes = "keep the one with most bytes"
  /// Keep, of several tasks, the one that has ended, and best has delivered the file.
  case keepFinished = "keep the finished"
  /// Cancel the other tasks, without producing resume data.
  case cancelOthers = "cancel others without resume data"
  /// Cancel the task.
  case cancelTask = "cancel task"
  /// Cancel the task, producing resume data if its transport can.
  case cancelProducingResumeData = "cancel producing resume data"
  /// Take over the task as the record's transfer.
  case adopt
  /// Resume the suspended task.
  case resumeTask = "resume it"
  /// Do nothing until the cancelled task has reported its end.
  case wait = "wait for the callback"

  // MARK: The finished file

  /// Check the bytes that a task has delivered, and rename the partial file to its final name.
  case placeDelivered = "place the delivered file"
  /// Rename the partial file to its final name.
  case placePartial = "place the partial"
  /// Repeat the logged rename of the partial file.
  case redoRename = "redo the rename"
  /// Reserve another final name when the rename is logged: a foreign file has the recorded one.
  case chooseName = "choose the name again at finalise"
  /// Delete the finished file.
  case deleteFinal = "delete final"

  // MARK: Leftovers

  /// Let the transport delete what an ended task has delivered.
  case deleteDelivered = "delete delivered"
  /// Delete the partial file.
  case deletePartial = "delete partial"
  /// Drop the resume data.
  case dropResumeData = "drop resume data"
  /// Delete a partial file without a record after a grace period, unless a process has locked it.
  ///
  /// Done by `dlstore reconcile --apply`; an engine reads only records.
  case collectOrphan = "delete after a minute, unless locked"

  // MARK: The record

  /// Commit the record as completed.
  case commitCompleted = "commit completed"
  /// Delete the record.
  case deleteRecord = "delete record"
  /// Store the resume data that a task has left.
  case storeResumeData = "store resume data"
  /// Decide by the response's status whether the download is retried or has failed.
  case classifyStatus = "classify status"

  // MARK: The next byte

  /// Plan where the next byte comes from; see ``TransferPlan``.
  case plan
  /// Plan where the next byte comes from, ignoring resume data.
  case planFromPartial = "plan from partial"
  /// Truncate the partial file to the committed byte count.
  case truncateToCommitted = "truncate to the committed bytes"
  /// Read the partial file, and count only the pieces that have their digests.
  case checkPieces = "check pieces"
}

extension ReconcileAction {
  /// Whether the action has an effect in a case.
  ///
  /// A rule lists every action that it may need; a decision contains only those with an effect.
  func applies(to given: ReconcileCase) -> Bool {
    switch self {
    case .cancelTask, .cancelProducingResumeData: given.task.isLive
    case .resumeTask: given.task == .suspended
    case .deleteFinal: given.conditions.removesFile && given.final == .ours
    case .deleteDelivered: given.task == .doneOK || given.task == .doneBadStatus
    case .deletePartial: given.partial != .missing
    case .dropResumeData: given.resumeData != .none
    // Until the task has ended, the record is needed to decide about its result.
    case .deleteRecord: !given.task.isLive && given.task != .canceling
    case .plan:
      switch given.stored {
      case .waiting: given.conditions.hasFreeSlot
      case .failedRetryable: given.conditions.isRetryDue
      default: true
      }
    case .classifyStatus: ReconcileCase.Stored.wantsToRun.contains(given.stored)
    // A running download has failed. Its next attempt plans when it starts.
    case .planFromPartial: [.waiting, .failedRetryable].contains(given.stored)
    case .keepMostBytes, .keepFinished, .cancelOthers, .adopt, .wait, .placeDelivered,
      .placePartial, .redoRename, .chooseName, .collectOrphan, .commitCompleted,
      .storeResumeData, .truncateToCommitted, .checkPieces:
      true
    }
  }
}
