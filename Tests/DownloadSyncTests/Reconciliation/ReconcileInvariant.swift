import DownloadStore

@testable import DownloadSync

/// A property that every decision must have, whatever the rules are.
///
/// I10 applies to sequences of decisions, the others to single ones.
enum ReconcileInvariant: String, CaseIterable {
  /// Every case is decided by named rules.
  case i1
  /// A finished file is deleted only with its record, on request, and if it is ours.
  case i2
  /// The state running implies a live task.
  case i3
  /// A download that is paused, removed, cancelled or without a record neither starts nor keeps a
  /// task.
  case i4
  /// Resume data that is corrupt, stale or without its file is never used.
  case i5
  /// A delivered file is dropped only if the download is cancelled, removed, completed or without a
  /// record, or if the file is in place already.
  case i6
  /// A paused download that finishes nevertheless is complete.
  case i7
  /// No partial file of a live task is deleted unless its bytes are not needed.
  case i8
  /// Progress never exceeds the bytes on disk.
  case i9
  /// A sequence of decisions ends after at most four.
  ///
  /// A file delivered right before its task is cancelled costs one more.
  case i10
  /// Only checked pieces of a partial file count if another program may have changed it.
  case i11

  /// The invariants of single decisions.
  static let ofDecisions = allCases.filter { $0 != .i10 }

  /// Returns whether a decision satisfies the invariant.
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
      // An existing file is never replaced: another name is chosen first.
      return given.final.isForeign
        && actions.firstIndex(of: .chooseName).map { $0 < places } ?? false
    case .i3:
      return decision.result != .state(.running)
        || (given.task.isLive && decision.effects.task != .cancel)
    case .i4:
      guard !given.wantsToRun else { return true }
      return plan == nil && !actions.contains(.adopt) && !actions.contains(.resumeTask)
        && (!given.task.isLive || decision.effects.task == .cancel)
    case .i5:
      let isUsable = given.resumeData == .valid || actions.contains(.storeResumeData)
      return plan?.source != .resumeData || (isUsable && given.conditions.takesResumeData)
    case .i6:
      guard given.task == .doneOK || given.task == .dupDoneRunning else { return true }
      return !actions.contains(.deleteDelivered) || given.isUnneeded || given.stored == .none
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
    case .i11:
      guard given.conditions.isPartialChanged, let plan else { return true }
      return switch plan.source {
      case .finalise: false
      case .range: plan.actions.contains(.checkPieces)
      case .zero, .resumeData: true
      }
    }
  }
}

extension ReconcileCase {
  /// There is no record and nothing that a record could leave behind.
  fileprivate var isNothing: Bool {
    stored == .none && partial == .missing
      && [.none, .doneBadStatus, .errResume, .errNoResume].contains(task)
  }

  /// The record's state requests bytes.
  fileprivate var wantsToRun: Bool {
    [.waiting, .running, .failedRetryable, .finalizing].contains(stored)
  }

  /// No more bytes are needed: the download was given up, or its file is in place.
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
  /// Returns whether the bytes that are not requested again are on disk, if 40 of 100 are
  /// committed.
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
      // The pieces that were checked are on disk.
      case .range where actions.contains(.checkPieces): 0
      case .range: 40
      case .zero, .resumeData: 0
      }
    let cut =
      actions.contains(.deletePartial) ? 0 : actions.contains(.truncateToCommitted) ? 40 : size
    // Bytes after the committed ones are not trusted, and no file exceeds the expected size.
    return first <= min(cut, size) && (source != .finalise || partial == .complete)
      && (source != .range || cut == 40 || actions.contains(.checkPieces))
  }
}

extension ReconcileTable {
  /// Finds the invariants that the table violates.
  ///
  /// - Parameters:
  ///   - conditions: The conditions of the cases.
  ///   - sought: The invariant whose first violation is enough; `nil` for all of them.
  ///   - visit: Receives each decision once.
  /// - Returns: An example of a violation of each.
  func broken(
    _ conditions: [ReconcileCase.Conditions],
    until sought: ReconcileInvariant? = nil,
    visit: (ReconcileCase, ReconcileDecision) -> Void = { _, _ in }
  ) -> [ReconcileInvariant: ReconcileCase] {
    var broken: [ReconcileInvariant: ReconcileCase] = [:]
    for conditions in conditions {
      let model = ReconcileModel(table: self)
      do {
        let steps = try model.stepsToRest(ReconcileCase.all(conditions)) { given, decision in
          for invariant in ReconcileInvariant.ofDecisions where broken[invariant] == nil {
            if !invariant.holds(given, decision) { broken[invariant] = given }
          }
          visit(given, decision)
          guard let sought else { return true }
          return broken[sought] == nil
        }
        let late = steps.first { given, steps in
          steps.usual > 4 || steps.withRaces > 5 || (steps.usual == 0 && !given.mayRest)
        }
        if let late { broken[.i10] = late.key }
      } catch {
        if case .restless(let given) = error { broken[.i10] = given }
      }
      if let sought, broken[sought] != nil { break }
    }
    return broken
  }
}

extension ReconcileCase {
  /// No task is active and no file is left over.
  fileprivate var mayRest: Bool {
    switch stored {
    case .removed, .finalizing: false
    case .running: task == .running
    // Resume data is a part of the record.
    case .none: task == .none && partial == .missing
    case .cancelled, .completed: task == .none && partial == .missing && resumeData == .none
    case .waiting, .paused, .failedRetryable, .failedPermanent: task == .none
    }
  }
}
