internal import DownloadStore

/// The effects of a decision: everything that the engine does to carry it out.
///
/// Two exhaustive switches translate the actions and the result. The engine reads nothing else of a
/// decision, so an action without an implementation does not compile, and `dlstore explain` shows
/// only what an engine does. Each effect names the phase that executes it.
struct ReconcileEffects: Sendable, Hashable {
  /// The effect on the record's task, executed when a task is found or a record has changed.
  enum OnTask: Sendable, Hashable {
    /// Leaves the task as it is.
    case keep
    /// Awaits the end of the task, which is being cancelled or has ended.
    case await
    /// Cancels the task. A background transport then produces resume data.
    case cancel
    /// Makes the task the record's transfer, after resuming it if it is suspended.
    case adopt
  }

  /// The task that is kept, of several for one record.
  enum Keeper: Sendable, Hashable {
    /// The only one that is not being cancelled.
    case only
    /// The one that has received the most bytes.
    case mostBytes
    /// The one that has delivered its body, or at least ended.
    case finished
  }

  /// The effect on the record and the name of its file.
  enum OnRecord: Sendable, Hashable {
    /// Commits the state; `nil` for no change.
    case keep(DownloadState?)
    /// Commits a failed attempt; the failure and the retry policy decide what follows.
    case fail
    /// Checks the partial file, and then gives it its final name and completes the record.
    case finalize
    /// Repeats the logged rename of the partial file, and then completes the record.
    case redoRename
    /// Completes the record, whose file has its final name.
    case complete
    /// Deletes the record.
    case delete
  }

  /// The effect on the partial file.
  enum OnPartial: Sendable, Hashable {
    case keep
    /// Deletes the file before the commit, because its bytes are not needed any more.
    case delete
    /// Deletes the file after the commit of the rollback, because its bytes are useless.
    case drop
    /// Truncates the file to the committed byte count after the commit.
    case truncate
    /// Deletes a file without a record after a grace period, unless a process has locked it.
    ///
    /// Done by ``Reconciliation/orphans(in:)`` and not by an engine, which reads only records.
    case collect
    /// Reads the file before the commit, which counts only the pieces that have their digests.
    case check
  }

  /// The effect on the record's resume data.
  enum OnResumeData: Sendable, Hashable {
    case keep
    /// Stores the resume data that the task has left.
    case store
    case drop
  }

  private(set) var task = OnTask.keep
  private(set) var keeper = Keeper.only
  /// Whether the tasks other than the kept one are cancelled.
  private(set) var cancelsOthers = false
  private(set) var record = OnRecord.keep(nil)
  private(set) var partial = OnPartial.keep
  private(set) var resumeData = OnResumeData.keep
  /// Whether the finished file is deleted.
  private(set) var deletesFinal = false
  /// Whether another name is reserved in the commit that logs the rename.
  private(set) var choosesName = false
  /// Where the next byte comes from, if a transfer is to start; executed by its start.
  private(set) var plan: TransferPlan?
  /// Whether the commit drops the committed byte count, which is then reported as lost.
  private(set) var rollsBack = false

  /// Translates a decision.
  init(_ decision: ReconcileDecision) {
    switch decision.result {
    case .state(let stored): record = .keep(stored.state)
    case .pending(let stored):
      record = .keep(stored.state)
      task = .await
    case .completedMissing, .completedModified: record = .keep(.completed)
    case .waitingFirst: record = .keep(.waiting)
    case .waitingOrFailed: record = .fail
    // The actions say how the file gets its name.
    case .placed: break
    }
    for action in decision.actions { add(action, decision.plan) }
    guard let plan else { return }
    rollsBack = plan.startsFromZero
    for action in plan.actions { add(action, nil) }
    // A plan deletes useless bytes. The record stops counting them before.
    if partial == .delete { partial = .drop }
  }

  private mutating func add(_ action: ReconcileAction, _ plan: TransferPlan?) {
    switch action {
    case .keepMostBytes: keeper = .mostBytes
    case .keepFinished: keeper = .finished
    case .cancelOthers: cancelsOthers = true
    case .cancelTask, .cancelProducingResumeData: task = .cancel
    // Adopting resumes a suspended task.
    case .adopt, .resumeTask: task = .adopt
    case .wait: task = .await
    case .placeDelivered: record = .finalize
    case .placePartial, .redoRename: record = .redoRename
    case .chooseName: choosesName = true
    case .deleteFinal: deletesFinal = true
    // The transport deletes what an ended task has delivered when the task is cancelled, or when
    // its end is acknowledged after the commit of its result.
    case .deleteDelivered: task = .cancel
    case .deletePartial: partial = .delete
    case .dropResumeData: resumeData = .drop
    case .collectOrphan: partial = .collect
    case .commitCompleted: record = .complete
    case .deleteRecord: record = .delete
    case .storeResumeData: resumeData = .store
    case .classifyStatus: record = .fail
    case .plan, .planFromPartial: self.plan = plan
    case .truncateToCommitted: partial = .truncate
    case .checkPieces: partial = .check
    }
  }

  /// Whether the commit completes the record, so that the name of its file must be on disk before.
  var completes: Bool { record == .complete }
}
