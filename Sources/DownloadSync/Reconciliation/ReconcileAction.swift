internal import DownloadStore

/// What is done to records, tasks, files and resume data.
///
/// The raw values are the words of `docs/reconciliation.md`.
package enum ReconcileAction: String, Sendable, Hashable, CaseIterable {
  // MARK: Tasks

  /// Of several tasks, the one that has received most goes on.
  case keepMostBytes = "keep the one with most bytes"
  /// Of several tasks, the one that has ended counts.
  case keepFinished = "keep the finished"
  /// The other tasks end, and leave no resume data.
  case cancelOthers = "cancel others without blob"
  /// The task ends.
  case cancelTask = "cancel task"
  /// The task ends, and leaves resume data if its transport makes any.
  case cancelProducingResumeData = "cancel producing blob"
  /// The task is the record's.
  case adopt
  /// The suspended task goes on.
  case resumeTask = "resume it"
  /// Nothing is done before the task has said that it has ended.
  case wait = "wait for the callback"

  // MARK: The finished file

  /// The file that a task has delivered gets its name.
  case placeDelivered = "place the delivered file"
  /// The partial file gets its name.
  case placePartial = "place the partial"
  /// The rename that was logged is done again.
  case redoRename = "redo the rename"
  /// The name is somebody else's: another one is chosen when the file gets its name.
  case chooseName = "choose the name again at finalise"
  /// The finished file is deleted.
  case deleteFinal = "delete final"

  // MARK: What is left over

  /// The file that a task has delivered is deleted.
  case deleteDelivered = "delete delivered"
  /// The page that came with a bad status is deleted.
  case deleteBody = "delete body"
  /// The partial file is deleted.
  case deletePartial = "delete partial"
  /// The resume data is dropped.
  case dropResumeData = "drop blob"
  /// A partial file that is nobody's is deleted when it has been so for a while.
  case collectOrphan = "gc after grace, if unlocked"

  // MARK: The record

  /// The record is committed as complete.
  case commitCompleted = "commit completed"
  /// The record is deleted.
  case deleteRecord = "delete record"
  /// The resume data that a task has left is stored.
  case storeResumeData = "store blob"
  /// The status says whether the download waits or has failed.
  case classifyStatus = "classify status"

  // MARK: The next byte

  /// It is decided where the next byte comes from.
  case plan
  /// It is decided where the next byte comes from, without a look at resume data.
  case planFromPartial = "plan from partial"
  /// The partial file is cut to what was committed.
  case truncateToCommitted = "truncate to c"
  /// The partial file is cut to the last checkpoint whose bytes are known to be good.
  case truncateToCheckpoint = "truncate to last verified checkpoint"

  // MARK: What is told

  /// Bytes that were counted are gone.
  case reportRollback = "event progressRolledBack"
}

extension ReconcileAction {
  /// Whether there is something for the action to do in a case.
  ///
  /// A rule names what it does to whatever may be there; a decision lists what is.
  func applies(to given: ReconcileCase) -> Bool {
    switch self {
    case .cancelTask, .cancelProducingResumeData: given.task.isLive
    case .resumeTask: given.task == .suspended
    case .deleteFinal: given.conditions.removesFile && given.final == .ours
    case .deleteDelivered: given.task == .doneOK || given.task == .doneBadStatus
    case .deleteBody: given.task == .doneBadStatus
    case .deletePartial: given.partial != .missing
    case .dropResumeData: given.resumeData != .none
    // What still comes from a task needs a record that says what to do with it.
    case .deleteRecord: !given.task.isLive && given.task != .canceling
    case .plan:
      switch given.stored {
      case .waiting: given.conditions.hasFreeSlot
      case .failedRetryable: given.conditions.isRetryDue
      default: true
      }
    case .planFromPartial: ReconcileCase.Stored.wantsToRun.contains(given.stored)
    case .keepMostBytes, .keepFinished, .cancelOthers, .adopt, .wait, .placeDelivered,
      .placePartial, .redoRename, .chooseName, .collectOrphan, .commitCompleted,
      .storeResumeData, .classifyStatus, .truncateToCommitted, .truncateToCheckpoint,
      .reportRollback:
      true
    }
  }
}
