/// The actions for a record, and the rules that lead to them.
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

  /// The steps of the engine that carry the decision out.
  var effects: ReconcileEffects { ReconcileEffects(self) }
}

/// The state of a record after a decision was carried out.
package enum ReconcileResult: Sendable, Hashable {
  /// The record has the given state; `none` means that it does not exist.
  case state(ReconcileCase.Stored)
  /// The record keeps the given state until its task has reported its end.
  case pending(ReconcileCase.Stored)
  /// The file is renamed to its final name, and the record is completed.
  case placed
  /// The record is completed, but its file does not exist.
  case completedMissing
  /// The record is completed, but another file has its name.
  case completedModified
  /// The record waits at the front of its priority.
  case waitingFirst
  /// The record waits, or has failed for now or permanently.
  ///
  /// The failure and the retry policy decide which.
  case waitingOrFailed

  /// The possible states of the record; more than one only for ``waitingOrFailed``.
  package var states: [ReconcileCase.Stored] {
    switch self {
    case .state(let stored), .pending(let stored): [stored]
    case .placed, .completedMissing, .completedModified: [.completed]
    case .waitingFirst: [.waiting]
    case .waitingOrFailed: [.waiting, .failedRetryable, .failedPermanent]
    }
  }
}

extension ReconcileResult: CustomStringConvertible {
  /// The result as `docs/reconciliation.md` shows it.
  package var description: String {
    switch self {
    case .state(let stored): stored.rawValue
    case .pending(let stored): "\(stored.rawValue)(pending)"
    case .placed: "finalizing → completed"
    case .completedMissing: "completed (localPath nil)"
    case .completedModified: "completed (modified)"
    case .waitingFirst: "waiting at the head of its priority"
    case .waitingOrFailed: "waiting or failed"
    }
  }
}
