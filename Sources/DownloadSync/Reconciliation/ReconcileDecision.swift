/// What is to be done about a record, and why.
package struct ReconcileDecision: Sendable, Hashable {
  /// The rules that fired, in their order; none where there is nothing to do.
  package var rules: [ReconcileRule.ID]
  /// What to do, in order; what the plan asks for comes after it.
  package var actions: [ReconcileAction]
  /// What the record is afterwards.
  package var result: ReconcileResult
  /// Where the next byte comes from, when bytes are to come.
  package var plan: TransferPlan?

  /// Describes a decision.
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

  /// The names of all rules that fired, those of the plan last, joined by `+`.
  package var ruleNames: String {
    (rules.map(\.rawValue) + (plan?.rules.map(\.rawValue) ?? [])).joined(separator: "+")
  }

  /// The words for all that is done, in order: the actions, what the plan asks for, and where the
  /// next byte comes from.
  package var steps: [String] {
    (actions + (plan?.actions ?? [])).map(\.rawValue) + (plan.map { [$0.source.rawValue] } ?? [])
  }

  /// Whether the file has its name already, and the record only has to say so.
  var commitsCompleted: Bool { actions.contains(.commitCompleted) }

  /// Whether the live task is to end.
  var cancelsTask: Bool {
    actions.contains(.cancelTask) || actions.contains(.cancelProducingResumeData)
  }
}
