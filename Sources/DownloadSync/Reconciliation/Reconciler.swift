internal import DownloadStore

/// Compares what is wanted, recorded, running and on disk, and says what to do.
///
/// Pure and total.
///
/// The order of the rules is: what somebody wants gone, what is complete, content that is ours
/// already, what is about to be renamed, live tasks, and then the rest. The first that fits wins.
public enum Reconciler {
  /// The decision for a case.
  public static func decide(_ reconcileCase: ReconcileCase) -> ReconcileDecision {
    let given = reconcileCase
    guard let stored = given.stored else { return decideWithoutRecord(given) }
    if stored == .removed || given.intent == .discard { return discard(given, .discardEverything) }
    if stored == .cancelled || given.intent == .keep { return discard(given, .keepRecordOnly) }
    if stored == .completed { return decideCompleted(given) }
    if given.final == .ours {
      return ReconcileDecision(
        rules: [.alreadyOurs],
        actions: leftovers(given) + [.commitCompleted],
        result: .completed
      )
    }
    return decideUnfinished(given, stored)
  }

  private static func decideWithoutRecord(_ given: ReconcileCase) -> ReconcileDecision {
    var decision = ReconcileDecision(rules: [], actions: [], result: nil)
    if given.task == .running {
      decision.rules.append(.orphanTask)
      decision.actions.append(.cancelTask)
    }
    if given.partial != .missing { decision.rules.append(.orphanPartial) }
    return decision
  }

  private static func discard(
    _ given: ReconcileCase,
    _ rule: ReconcileRule
  ) -> ReconcileDecision {
    let isGone = rule == .discardEverything
    return ReconcileDecision(
      rules: [rule],
      actions: leftovers(given) + (isGone ? [.deleteRecord] : []),
      result: isGone ? nil : .cancelled
    )
  }

  private static func decideCompleted(_ given: ReconcileCase) -> ReconcileDecision {
    switch given.final {
    case .ours:
      ReconcileDecision(
        rules: [.completedPresent],
        actions: leftovers(given),
        result: .completed
      )
    case .foreign:
      ReconcileDecision(
        rules: [.completedModified],
        actions: leftovers(given),
        result: .completed
      )
    case .missing where given.partial == .complete:
      // A folder entry that a power cut lost looks like this.
      ReconcileDecision(
        rules: [.completedFromPartial],
        actions: (given.task == .running ? [.cancelTask] : []) + [.placePartial],
        result: .completed
      )
    case .missing:
      // People move finished files; a launch must not fetch gigabytes.
      ReconcileDecision(
        rules: [.completedMissing],
        actions: leftovers(given),
        result: .completed
      )
    }
  }

  private static func decideUnfinished(
    _ given: ReconcileCase,
    _ stored: DownloadState
  ) -> ReconcileDecision {
    var rules: [ReconcileRule] = []
    var actions: [ReconcileAction] = []
    if given.final == .foreign {
      rules.append(.nameTaken)
      actions.append(.chooseName)
    }
    let isHeld = stored == .paused || stored == .failedPermanent || given.intent == .hold
    // What is held does not run, and is not said to.
    let rest: DownloadState = stored == .failedPermanent ? .failedPermanent : .paused
    if given.task == .running {
      if isHeld {
        return ReconcileDecision(rules: rules + [.stopTask], actions: [.cancelTask], result: rest)
      }
      return ReconcileDecision(
        rules: rules + [stored == .finalizing ? .finalizingLive : .adopt],
        actions: actions,
        result: .running
      )
    }
    if stored == .finalizing, given.partial == .complete {
      return ReconcileDecision(
        rules: rules + [.finishRename],
        actions: actions + [.placePartial],
        result: .completed,
        plan: .finalize
      )
    }
    guard !isHeld else {
      return ReconcileDecision(
        rules: rules + [stored == .finalizing ? .finalizingLost : .leave],
        actions: [],
        result: rest
      )
    }
    let rule: ReconcileRule =
      switch stored {
      case .finalizing: .finalizingLost
      case .running: .interrupted
      case .failedRetryable: .waitForRetry
      default: .waitForTurn
      }
    let source = plan(given)
    return ReconcileDecision(
      rules: rules + [rule, source.rule],
      actions: actions,
      result: stored == .failedRetryable ? .failedRetryable : .waiting,
      plan: source.plan
    )
  }

  /// Where the next byte comes from.
  static func plan(_ given: ReconcileCase) -> (rule: ReconcileRule, plan: TransferPlan) {
    switch given.partial {
    case .complete: (.allBytesThere, .finalize)
    case .missing: (.noPartial, .zero)
    // We only append, and commit after a sync: something else cut the file.
    case .shorter: (.distrustShorter, .zero)
    case _ where !given.canContinue: (.cannotContinue, .zero)
    case .equal: (.continuePartial, .range)
    // Bytes after the last commit may be zeros after a power cut.
    case .longer: (.cutLonger, .range)
    case .over: (.cutOver, .range)
    }
  }

  /// Ends what must not be there any more.
  private static func leftovers(_ given: ReconcileCase) -> [ReconcileAction] {
    (given.task == .running ? [.cancelTask] : [])
      + (given.partial == .missing ? [] : [.deletePartial])
  }
}
