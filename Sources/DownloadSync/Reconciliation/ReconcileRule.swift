/// One rule of reconciliation: when it fires, what is done, and what the record is then.
///
/// A rule is data: ``ReconcileTable`` asks them in their order, and the documentation's table is
/// written from them.
package struct ReconcileRule: Sendable {
  /// The names of the rules.
  ///
  /// They are in the order in which they are asked.
  package enum ID: String, Sendable, Hashable, CaseIterable {
    /// There are several tasks.
    case d1 = "D1"
    case d2 = "D2"
    /// Somebody wants it gone.
    case x1 = "X1"
    case x2 = "X2"
    /// There is no record.
    case n1 = "N1"
    case n2 = "N2"
    case n3 = "N3"
    case n4 = "N4"
    case n5 = "N5"
    /// It is complete.
    case c1 = "C1"
    case c2 = "C2"
    case c3 = "C3"
    case c4 = "C4"
    case c5 = "C5"
    /// A file has the name already.
    case a1 = "A1"
    case a2 = "A2"
    /// Its rename is logged.
    case f1 = "F1"
    case f2 = "F2"
    case f4 = "F4"
    case f5 = "F5"
    case f6 = "F6"
    case f3 = "F3"
    /// There is a task.
    case t1 = "T1"
    case t2 = "T2"
    case t3 = "T3"
    case t4 = "T4"
    case t5 = "T5"
    case t6 = "T6"
    case t7 = "T7"
    case t8 = "T8"
    case t9 = "T9"
    /// There is no task.
    case z1 = "Z1"
    case z2 = "Z2"
    case z3 = "Z3"
    case z4 = "Z4"
  }

  /// What follows when a rule has fired.
  enum Outcome: Sendable {
    /// The rules after it are asked too, of the task that is kept if it says one.
    case continues(keeping: ReconcileCase.LiveTask?)
    /// The record is that.
    case becomes(ReconcileResult)
    /// The record goes when no task is left, and is pending before.
    case goes
    /// The record is as it was.
    case stays
    /// The record is as it was until the task has ended.
    case staysPending
    /// The record is that when the next try is due, and as it was before.
    case whenDue(ReconcileResult)
    /// A record in one of these states waits or has failed; others are as they were.
    case fails([ReconcileCase.Stored])
  }

  /// The rule's name.
  package var id: ID
  /// When the rule fires, in words.
  package var condition: String
  /// What is done, in order, to what there is of it.
  package var actions: [ReconcileAction]
  /// The rule fires when one of these matches.
  var patterns: [ReconcilePattern]
  var outcome: Outcome

  init(
    _ id: ID,
    _ condition: String,
    _ patterns: ReconcilePattern...,
    does actions: [ReconcileAction],
    then outcome: Outcome
  ) {
    self.id = id
    self.condition = condition
    self.patterns = patterns
    self.actions = actions
    self.outcome = outcome
  }

  /// What the record is then, in words.
  package var outcomeWords: String {
    switch outcome {
    case .continues(let task): task.map { "go on with \($0.rawValue)" } ?? "go on"
    case .becomes(let result), .whenDue(let result): result.description
    case .goes: "record gone when no task left, else removed(pending)"
    case .stays: "unchanged"
    case .staysPending: "state(pending)"
    case .fails(let states):
      states.map(\.rawValue).joined(separator: "/") + ": waiting or failed; else unchanged"
    }
  }

  func matches(_ given: ReconcileCase) -> Bool {
    patterns.contains { $0.matches(given) }
  }
}

extension ReconcileRule.Outcome {
  /// What the record of a case is then; `nil` when the rules after it say so.
  func result(for given: ReconcileCase) -> ReconcileResult? {
    switch self {
    case .continues: nil
    case .becomes(let result): result
    case .goes:
      ReconcileAction.deleteRecord.applies(to: given) ? .state(.none) : .pending(given.stored)
    case .stays: .state(given.stored)
    case .staysPending: .pending(given.stored)
    case .whenDue(let result): given.conditions.isRetryDue ? result : .state(given.stored)
    case .fails(let states):
      states.contains(given.stored) ? .waitingOrFailed : .state(given.stored)
    }
  }
}
