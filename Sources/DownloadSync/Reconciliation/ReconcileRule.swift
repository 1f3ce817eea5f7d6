internal import DownloadStore

/// One rule of reconciliation: the cases it matches, its actions, and the resulting record state.
///
/// Rules are data. ``ReconcileTable`` evaluates them in order, and the tables in
/// `docs/reconciliation.md` are generated from them.
package struct ReconcileRule: Sendable {
  /// The names of the rules, in the order of evaluation.
  package enum ID: String, Sendable, Hashable, CaseIterable {
    // MARK: Tasks that a previous process left

    /// Several tasks, none finished: one is kept.
    case d1 = "D1"
    /// Several tasks, one ended: that one is kept.
    case d2 = "D2"
    /// The task does not continue the bytes on disk.
    case d3 = "D3"

    // MARK: Removed and cancelled downloads

    /// The download is removed.
    case x1 = "X1"
    /// The download is cancelled.
    case x2 = "X2"

    // MARK: No record

    /// A live task without a record.
    case n1 = "N1"
    /// A cancelled task without a record, which has not reported its end.
    case n2 = "N2"
    /// A delivered file without a record.
    case n3 = "N3"
    /// A partial file without a record.
    case n4 = "N4"

    // MARK: Completed downloads

    /// The finished file exists.
    case c1 = "C1"
    /// The finished file is missing, and a task has delivered the file.
    case c2 = "C2"
    /// The finished file is missing, and the partial file is complete.
    case c3 = "C3"
    /// The finished file is missing, and nothing can replace it.
    case c4 = "C4"
    /// Another file has the final name.
    case c5 = "C5"

    // MARK: The final name exists before the record is completed

    /// The file with the final name is the downloaded one.
    case a1 = "A1"
    /// The file with the final name is foreign.
    case a2 = "A2"

    // MARK: Logged renames

    /// The partial file is complete.
    case f1 = "F1"
    /// A task has delivered the file.
    case f2 = "F2"
    /// A task is live.
    case f4 = "F4"
    /// A cancelled task has not reported its end.
    case f5 = "F5"
    /// A task has left resume data.
    case f6 = "F6"
    /// Nothing to rename is left.
    case f3 = "F3"

    // MARK: Unfinished downloads with a task

    /// The task has delivered the file.
    case t1 = "T1"
    /// The task ended with an error status.
    case t2 = "T2"
    /// The task failed and has left resume data.
    case t3 = "T3"
    /// The task failed without resume data.
    case t4 = "T4"
    /// The cancelled task has not reported its end.
    case t5 = "T5"
    /// The task is running, and the download may run.
    case t6 = "T6"
    /// The task is suspended, and the download may run.
    case t7 = "T7"
    /// The task is live, but the download is paused or has failed permanently.
    case t8 = "T8"
    /// The task is live, but no slot is free.
    case t9 = "T9"

    // MARK: Unfinished downloads without a task

    /// The record says that a transfer is running.
    case z1 = "Z1"
    /// The download waits for a slot.
    case z2 = "Z2"
    /// The download waits for a retry.
    case z3 = "Z3"
    /// The download is paused or has failed permanently.
    case z4 = "Z4"
  }

  /// The effect of a rule on the record.
  enum Outcome: Sendable {
    /// The following rules are evaluated too, with the given task if there is one.
    case continues(keeping: ReconcileCase.LiveTask?)
    /// The record gets the given result.
    case becomes(ReconcileResult)
    /// The record is deleted if no task is left, and pending otherwise.
    case goes
    /// The record keeps its state.
    case stays
    /// The record keeps its state until the task has reported its end.
    case staysPending
    /// The record gets the given result if its retry is due, and keeps its state otherwise.
    case whenDue(ReconcileResult)
    /// A record in one of these states waits or has failed; others keep their state.
    case fails([ReconcileCase.Stored])
  }

  /// The rule's name.
  package var id: ID
  /// The condition under which the rule matches, as text.
  package var condition: String
  /// The actions in order; a decision omits those that have no effect in its case.
  package var actions: [ReconcileAction]
  /// The rule matches if one of these patterns does.
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

  /// The resulting record state, as text.
  package var outcomeWords: String {
    switch outcome {
    case .continues(let task): task.map { "continue with \($0.rawValue)" } ?? "continue"
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
  /// The result for a case; `nil` if the following rules decide.
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

// MARK: - Patterns

/// The cases that a rule applies to.
///
/// A case matches if it has one of the listed values on each axis; `nil` matches every value.
struct ReconcilePattern: Sendable {
  var stored: [ReconcileCase.Stored]?
  var task: [ReconcileCase.LiveTask]?
  var final: [FileInspection.Final]?
  var partial: [FileInspection.Partial]?
  var resumeData: [ReconcileCase.ResumeDataStatus]?
  var hasFreeSlot: Bool?
  var takesResumeData: Bool?
  var hasPieceDigests: Bool?
  var isPartialChanged: Bool?
  var continuesBytes: Bool?

  func matches(_ given: ReconcileCase) -> Bool {
    if let stored, !stored.contains(given.stored) { return false }
    if let task, !task.contains(given.task) { return false }
    if let final, !final.contains(given.final) { return false }
    if let partial, !partial.contains(given.partial) { return false }
    if let resumeData, !resumeData.contains(given.resumeData) { return false }
    if let hasFreeSlot, hasFreeSlot != given.conditions.hasFreeSlot { return false }
    if let takesResumeData, takesResumeData != given.conditions.takesResumeData { return false }
    if let hasPieceDigests, hasPieceDigests != given.conditions.hasPieceDigests { return false }
    if let isPartialChanged, isPartialChanged != given.conditions.isPartialChanged { return false }
    if let continuesBytes, continuesBytes != given.conditions.continuesBytes { return false }
    return true
  }
}

extension ReconcileCase.Stored {
  /// The states of downloads that start or continue without a command.
  static let wantsToRun: [Self] = [.waiting, .running, .failedRetryable]
  /// The states of downloads that are neither complete nor being renamed, cancelled or removed.
  static let transferring: [Self] = wantsToRun + [.paused, .failedPermanent]
  /// The states of downloads whose file does not have its final name yet.
  static let unfinished: [Self] = transferring + [.finalizing]
}

extension [FileInspection.Final] {
  static let foreign: Self = [.sizeOnly, .mismatch]
}

extension [ReconcileCase.LiveTask] {
  /// One task that is running or suspended; D1 has reduced several tasks to one before.
  static let live: Self = [.running, .suspended]
}
