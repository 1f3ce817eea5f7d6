/// What to do with a record, and the rules that say so.
package struct ReconcileDecision: Sendable, Hashable {
  /// The rules that matched, in order; empty when there is nothing to do.
  package var rules: [ReconcileRule.ID]
  /// The actions in order; those of ``plan`` follow them.
  package var actions: [ReconcileAction]
  /// The state of the record afterwards.
  package var result: ReconcileResult
  /// Where the next byte comes from; `nil` if the decision starts no transfer.
  package var plan: TransferPlan?

  /// Creates a decision.
  package init(
    rules: [ReconcileRule.ID],
    actions: [ReconcileAction],
    result: ReconcileResult,
    plan: TransferPlan? = nil
  ) {
    self.rules = rules
    self.actions = actions
    self.result = result
    self.plan = plan
  }

  /// The names of all rules that matched, joined by `+`; those of the plan come last.
  ///
  /// For example `A2+Z2+P7`.
  package var ruleNames: String {
    (rules.map(\.rawValue) + (plan?.rules.map(\.rawValue) ?? [])).joined(separator: "+")
  }

  /// The raw values of all steps in order: the actions, the actions of the plan, and its source.
  package var steps: [String] {
    (actions + (plan?.actions ?? [])).map(\.rawValue) + (plan.map { [$0.source.rawValue] } ?? [])
  }

  /// Whether the file already has its final name, so that only the record has to be committed.
  var commitsCompleted: Bool { actions.contains(.commitCompleted) }

  /// Whether the live task is to be cancelled.
  var cancelsTask: Bool {
    actions.contains(.cancelTask) || actions.contains(.cancelProducingResumeData)
  }
}
