import DownloadStore

@testable import DownloadSync

/// What must be true of every decision, whatever the rules are.
///
/// I1 to I9 are asked of one decision, I10 of the way that decisions lead.
enum ReconcileInvariant: String, CaseIterable {
  /// Every case is decided, by rules that are named.
  case i1
  /// A final file is deleted only with its record, when that was asked, and only if ours.
  case i2
  /// Running means that a task lives.
  case i3
  /// What is held, discarded, kept or nobody's neither starts nor keeps a task.
  case i4
  /// Resume data that is corrupt, stale or without its file is never used.
  case i5
  /// An accepted body is dropped only for what is cancelled, removed, completed, without a record, or
  /// there already.
  case i6
  /// What is paused and finishes all the same is complete.
  case i7
  /// No partial file is deleted under a live task, unless nobody needs it.
  case i8
  /// Progress never exceeds the bytes on disk.
  case i9
  /// Decisions come to rest after four of them at most.
  ///
  /// A file that a task delivers just before it is told to end costs one more.
  case i10

  /// Those that one decision can break.
  static let ofDecisions = allCases.filter { $0 != .i10 }

  /// Whether a decision keeps the invariant.
  func holds(_ given: ReconcileCase, _ decision: ReconcileDecision) -> Bool {
    let actions = decision.actions
    let plan = decision.plan
    switch self {
    case .i1:
      guard Set(decision.rules).count == decision.rules.count else { return false }
      return !decision.rules.isEmpty || given.isNothing
    case .i2:
      if actions.contains(.deleteFinal) {
        guard given.stored == .removed, given.final == .ours, given.conditions.removesFile else {
          return false
        }
      }
      let places = actions.firstIndex { $0.givesName }
      guard let places, given.final != .missing else { return true }
      // Never over what is there: another name is chosen first.
      return given.final.isForeign
        && actions.firstIndex(of: .chooseName).map { $0 < places } ?? false
    case .i3:
      return decision.result != .state(.running)
        || (given.task.isLive && !decision.cancelsTask)
    case .i4:
      guard !given.wantsToRun else { return true }
      return plan == nil && !actions.contains(.adopt) && !actions.contains(.resumeTask)
        && (!given.task.isLive || decision.cancelsTask)
    case .i5:
      let isUsable = given.resumeData == .valid || actions.contains(.storeResumeData)
      return plan?.source != .resumeData || (isUsable && given.conditions.takesResumeData)
    case .i6:
      guard given.task == .doneOK || given.task == .dupDoneRunning else { return true }
      let isDropped = actions.contains(.deleteDelivered) || actions.contains(.deleteBody)
      return !isDropped || given.isUnneeded || given.stored == .none
    case .i7:
      guard given.stored == .paused, given.task == .doneOK || given.task == .dupDoneRunning else {
        return true
      }
      return decision.result.states == [.completed]
    case .i8:
      guard given.task.isLive || given.task == .canceling else { return true }
      let deletes =
        actions.contains(.deletePartial) || plan?.actions.contains(.deletePartial) == true
      return !deletes || given.isUnneeded
    case .i9:
      return plan.map { $0.begins(within: given.partial) } ?? true
    case .i10:
      return true
    }
  }
}

extension ReconcileCase {
  /// No record, and nothing that one could leave behind.
  fileprivate var isNothing: Bool {
    stored == .none && partial == .missing && resumeData == .none
      && [.none, .doneBadStatus, .errResume, .errNoResume].contains(task)
  }

  /// Whether somebody wants bytes to come.
  fileprivate var wantsToRun: Bool {
    [.waiting, .running, .failedRetryable, .finalizing].contains(stored)
  }

  /// Whether no more bytes are needed, because they were given up or are there.
  fileprivate var isUnneeded: Bool {
    [.cancelled, .removed, .completed].contains(stored) || final == .ours
  }
}

extension ReconcileAction {
  fileprivate var givesName: Bool {
    self == .placeDelivered || self == .placePartial || self == .redoRename
  }
}

extension TransferPlan {
  /// Whether what is not asked for again is on disk, when 40 bytes of 100 are committed.
  fileprivate func begins(within partial: FileInspection.Partial) -> Bool {
    let size =
      switch partial {
      case .missing: 0
      case .equal: 40
      case .longer: 70
      case .shorter: 30
      case .complete: 100
      case .over: 120
      }
    let first =
      switch source {
      case .finalise: 100
      case .range: 40
      // The last checkpoint that is not after the end.
      case .checkpoint: min(size, 40) / 10 * 10
      case .zero, .resumeData: 0
      }
    let cut =
      actions.contains(.deletePartial) ? 0 : actions.contains(.truncateToCommitted) ? 40 : size
    // Bytes after what was committed are not trusted, and a file is not over its whole.
    return first <= min(cut, size) && (source != .finalise || partial == .complete)
      && (source != .range || cut == 40)
  }
}

extension ReconcileTable {
  /// The invariants that the table breaks, each with a case that shows it.
  func broken(
    _ conditions: [ReconcileCase.Conditions] = ReconcileCase.Conditions.all
  ) -> [ReconcileInvariant: ReconcileCase] {
    var broken: [ReconcileInvariant: ReconcileCase] = [:]
    for conditions in conditions {
      let model = ReconcileModel(table: self)
      do {
        let steps = try model.stepsToRest(ReconcileCase.all(conditions)) { given, decision in
          for invariant in ReconcileInvariant.ofDecisions where broken[invariant] == nil {
            if !invariant.holds(given, decision) { broken[invariant] = given }
          }
        }
        let late = steps.first { given, steps in
          steps.usual > 4 || steps.withRaces > 5 || (steps.usual == 0 && !given.mayRest)
        }
        if let late { broken[.i10] = late.key }
      } catch {
        broken[.i10] = error.given
      }
    }
    return broken
  }
}

extension ReconcileCase {
  /// Whether nothing is under way and nothing is left over.
  fileprivate var mayRest: Bool {
    switch stored {
    case .removed, .finalizing: false
    case .running: task == .running
    case .none, .cancelled, .completed: task == .none && partial == .missing && resumeData == .none
    case .waiting, .paused, .failedRetryable, .failedPermanent: task == .none
    }
  }
}
