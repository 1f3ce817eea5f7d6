import DownloadStore

@testable import DownloadSync

/// A model of the environment: the cases that can follow a decision.
struct ReconcileModel {
  let table: ReconcileTable

  /// A case that can follow.
  struct Next: Hashable {
    var given: ReconcileCase
    /// Whether the task delivered its file before it was cancelled.
    var isRace = false
  }

  /// Why not every case was visited.
  enum Interruption: Error {
    /// Decisions never end from this case.
    case restless(ReconcileCase)
    /// The visitor needs no more cases.
    case stopped
  }

  /// Returns the cases that can follow a decision, or the given case if the decision changes
  /// nothing.
  func next(_ given: ReconcileCase, _ decision: ReconcileDecision) -> [Next] {
    var world = given
    if decision.rules.contains(.d1) { world.task = .running }
    if decision.rules.contains(.d2) { world.task = .doneOK }
    let actions = decision.actions + (decision.plan?.actions ?? [])
    for action in actions { apply(action, to: &world) }
    var ends: [Next] = [Next(given: world)]
    switch world.task {
    // The engine acknowledges the end of a task whose result is committed.
    case .errResume, .errNoResume, .doneBadStatus: ends[0].given.task = .none
    // A delivered file stays until an action handles it.
    case .canceling where given.task == .canceling:
      ends = [ReconcileCase.LiveTask.errNoResume, .errResume, .doneOK].map { end in
        var next = Next(given: world, isRace: end == .doneOK)
        next.given.task = end
        return next
      }
    default: break
    }
    return ends.flatMap { end in
      decision.result.states.map { state in
        var end = end
        end.given.stored = state
        return end
      }
    }
  }

  private func apply(_ action: ReconcileAction, to world: inout ReconcileCase) {
    switch action {
    case .cancelTask, .cancelProducingResumeData: world.task = .canceling
    case .resumeTask: world.task = .running
    case .placeDelivered:
      // The transport has delivered into the partial file.
      world.final = .ours
      world.partial = .missing
      world.task = .none
    case .placePartial, .redoRename:
      world.final = .ours
      world.partial = .missing
    case .deleteFinal: world.final = .missing
    case .deleteDelivered: world.task = .none
    case .deletePartial, .collectOrphan:
      world.partial = .missing
      world.conditions.isPartialChanged = false
    case .dropResumeData: world.resumeData = .none
    case .storeResumeData: world.resumeData = .valid
    case .truncateToCommitted: world.partial = .equal
    case .checkPieces:
      world.partial = .equal
      world.conditions.isPartialChanged = false
    case .keepMostBytes, .keepFinished, .cancelOthers, .adopt, .wait, .chooseName,
      .commitCompleted, .deleteRecord, .classifyStatus, .plan, .planFromPartial:
      break
    }
  }

  /// The maximum number of decisions until a decision changes nothing.
  struct Steps: Hashable {
    /// If tasks end when they are cancelled.
    var usual = 0
    /// If tasks may deliver their file right before.
    var withRaces = 0
  }

  /// Follows the decisions from each case, and passes each decision to `visit` once.
  ///
  /// - Parameters:
  ///   - cases: The cases from which decisions are followed.
  ///   - visit: Returns whether more cases are needed.
  /// - Returns: The number of steps from each case.
  /// - Throws: ``Interruption``.
  func stepsToRest(
    _ cases: [ReconcileCase],
    visit: (ReconcileCase, ReconcileDecision) -> Bool
  ) throws(Interruption) -> [ReconcileCase: Steps] {
    var known: [ReconcileCase: Steps] = [:]
    known.reserveCapacity(cases.count)
    func steps(_ given: ReconcileCase, depth: Int) throws(Interruption) -> Steps {
      if let steps = known[given] { return steps }
      guard depth < 16 else { throw .restless(given) }
      let decision = table.decision(for: given)
      guard visit(given, decision) else { throw .stopped }
      var longest = Steps()
      let next = next(given, decision)
      if next != [Next(given: given)] {
        for next in next {
          let further = try steps(next.given, depth: depth + 1)
          if !next.isRace { longest.usual = max(longest.usual, further.usual + 1) }
          longest.withRaces = max(longest.withRaces, further.withRaces + 1)
        }
      }
      known[given] = longest
      return longest
    }
    for given in cases { _ = try steps(given, depth: 0) }
    return known
  }
}

extension ReconcileCase.Conditions {
  /// Every combination of facts.
  static let all: [Self] = (0..<128).map { bits in
    Self(
      hasFreeSlot: bits & 1 == 0,
      takesResumeData: bits & 2 == 0,
      removesFile: bits & 4 != 0,
      canContinue: bits & 8 == 0,
      isRetryDue: bits & 16 == 0,
      hasPieceDigests: bits & 32 != 0,
      isPartialChanged: bits & 64 != 0
    )
  }
}
