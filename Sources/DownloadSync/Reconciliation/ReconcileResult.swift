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
    case .completedMissing: "completed (localUrl nil)"
    case .completedModified: "completed (modified)"
    case .waitingFirst: "waiting at the head of its priority"
    case .waitingOrFailed: "waiting or failed"
    }
  }
}
