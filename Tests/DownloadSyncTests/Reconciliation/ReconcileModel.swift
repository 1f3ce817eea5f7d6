import DownloadStore

@testable import DownloadSync

/// The world that decisions are carried out in: what a case may be after one of them.
struct ReconcileModel {
  let table: ReconcileTable

  /// A case that may follow.
  struct Next: Hashable {
    var given: ReconcileCase
    /// Whether a task had delivered its file before it heard that it is to end.
    var isRace = false
  }

  /// Why a case does not come to rest.
  struct Restless: Error {
    var given: ReconcileCase
  }

  /// The cases after a decision for one; that one alone if it is at rest.
  func next(_ given: ReconcileCase, _ decision: ReconcileDecision) -> [Next] {
    var world = given
    if decision.rules.contains(.d1) { world.task = .running }
    if decision.rules.contains(.d2) { world.task = .doneOK }
    let actions = decision.actions + (decision.plan?.actions ?? [])
    for action in actions { apply(action, to: &world) }
    var ends: [Next] = [Next(given: world)]
    switch world.task {
    case .errResume, .errNoResume: ends[0].given.task = .none
    // The page or the file stays until an action says what becomes of it.
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
      world.final = .ours
      world.task = .none
    case .placePartial, .redoRename:
      world.final = .ours
      world.partial = .missing
    case .deleteFinal: world.final = .missing
    case .deleteDelivered, .deleteBody: world.task = .none
    case .deletePartial, .collectOrphan: world.partial = .missing
    case .dropResumeData: world.resumeData = .none
    case .storeResumeData: world.resumeData = .valid
    case .truncateToCommitted, .truncateToCheckpoint: world.partial = .equal
    case .keepMostBytes, .keepFinished, .cancelOthers, .adopt, .wait, .chooseName,
      .commitCompleted, .deleteRecord, .classifyStatus, .plan, .planFromPartial, .reportRollback:
      break
    }
  }

  /// How many decisions it takes until none changes anything, at most.
  struct Steps: Hashable {
    /// When tasks end as they are told to.
    var usual = 0
    /// When they may have delivered their file just before.
    var withRaces = 0
  }

  /// The steps from each of the cases, whose decisions `visit` sees once each.
  ///
  /// Throws ``Restless`` for a case from which there is no end.
  func stepsToRest(
    _ cases: [ReconcileCase],
    visit: (ReconcileCase, ReconcileDecision) -> Void = { _, _ in }
  ) throws(Restless) -> [ReconcileCase: Steps] {
    var known: [ReconcileCase: Steps] = [:]
    known.reserveCapacity(cases.count)
    func steps(_ given: ReconcileCase, depth: Int) throws(Restless) -> Steps {
      if let steps = known[given] { return steps }
      guard depth < 16 else { throw Restless(given: given) }
      let decision = table.decision(for: given)
      visit(given, decision)
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
  /// Every combination.
  static let all: [Self] = (0..<32).map { bits in
    Self(
      hasFreeSlot: bits & 1 == 0,
      takesResumeData: bits & 2 == 0,
      removesFile: bits & 4 != 0,
      canContinue: bits & 8 == 0,
      isRetryDue: bits & 16 == 0
    )
  }
}
