internal import DownloadStore

/// The rules of reconciliation in their order.
///
/// First come rules after which the next ones are asked too (several tasks become one; a taken name
/// is left alone), and of the others the first that matches counts.
package struct ReconcileTable: Sendable {
  /// The rules that say what is done.
  package var rules: [ReconcileRule]
  /// The rules that say where the next byte comes from.
  package var planRules: [TransferPlan.Rule]

  /// The decision for a case.
  ///
  /// Pure and total: where no rule matches there is nothing to do.
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
    // Only where there is no record: the page of a bad status is nobody's.
    if ReconcileAction.deleteBody.applies(to: given) { actions.append(.deleteBody) }
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

  /// Where the next byte of a download comes from.
  func plan(for given: ReconcileCase) -> TransferPlan {
    var plan = TransferPlan(rules: [], actions: [], source: .zero)
    for rule in planRules where rule.pattern.matches(given) {
      plan.rules.append(rule.id)
      // A range that nothing vouches for is not asked for, and nothing is cut for it.
      if rule.source?.isRange == true, !given.conditions.canContinue { return plan }
      plan.actions += rule.actions.filter { $0.applies(to: given) }
      if let source = rule.source {
        plan.source = source
        return plan
      }
    }
    return plan
  }
}
