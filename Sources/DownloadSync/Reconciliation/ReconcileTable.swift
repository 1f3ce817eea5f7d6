internal import DownloadStore

/// The rules of reconciliation in the order of evaluation.
///
/// The first matching rule decides. Rules that only prepare the decision are the exception: after
/// D1 and D2, which reduce several tasks to one, and A2, which leaves a foreign file in place, the
/// following rules are evaluated too.
package struct ReconcileTable: Sendable {
  /// The rules that determine the actions and the result.
  package var rules: [ReconcileRule]
  /// The rules that determine where the next byte comes from.
  package var planRules: [TransferPlan.Rule]

  /// Returns the decision for a case.
  ///
  /// Pure and total: if no rule matches, there is nothing to do.
  ///
  /// - Complexity: O(r) for r rules.
  package func decision(for reconcileCase: ReconcileCase) -> ReconcileDecision {
    var given = reconcileCase
    var fired: [ReconcileRule.ID] = []
    var actions: [ReconcileAction] = []
    for index in rules.indices where rules[index].matches(given) {
      let rule = rules[index]
      fired.append(rule.id)
      actions += rule.actions.filter { $0.applies(to: given) }
      if case .continues(let task?) = rule.outcome { given.task = task }
      if let result = rule.outcome.result(for: given) {
        return ReconcileDecision(
          rules: fired,
          actions: actions,
          result: result,
          plan: plan(for: given, actions)
        )
      }
    }
    // Only cases without a record get here.
    return ReconcileDecision(rules: fired, actions: actions, result: .state(given.stored))
  }

  private func plan(for given: ReconcileCase, _ actions: [ReconcileAction]) -> TransferPlan? {
    var given = given
    if actions.contains(.storeResumeData) { given.resumeData = .valid }
    if actions.contains(.planFromPartial) {
      given.resumeData = .none
    } else if !actions.contains(.plan) {
      return nil
    }
    return plan(for: given)
  }

  /// Plans where the next byte of a download comes from.
  func plan(for given: ReconcileCase) -> TransferPlan {
    var plan = TransferPlan(rules: [], actions: [], source: .zero)
    for rule in planRules where rule.pattern.matches(given) {
      plan.rules.append(rule.id)
      // Without a validator or a digest no range is requested, and the file is not truncated for
      // one.
      if rule.source == .range, !given.conditions.canContinue { return plan }
      plan.actions += rule.actions.filter { $0.applies(to: given) }
      if let source = rule.source {
        plan.source = source
        return plan
      }
    }
    return plan
  }
}

/// Decides what to do about a download, given its command, record, task and files.
///
/// Pure and total: the decision depends on nothing but the case, and every case has one. The rules
/// are ``ReconcileTable/standard``.
package enum Reconciler {
  /// Returns the decision for a case.
  package static func decide(_ reconcileCase: ReconcileCase) -> ReconcileDecision {
    ReconcileTable.standard.decision(for: reconcileCase)
  }
}
