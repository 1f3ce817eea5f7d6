/// What a record is after a decision was carried out.
package enum ReconcileResult: Sendable, Hashable {
  /// It has that state; `none` means that there is no record.
  case state(ReconcileCase.Stored)
  /// It has that state until its task has said that it has ended.
  case pending(ReconcileCase.Stored)
  /// Its file gets its name, and it is complete.
  case placed
  /// It is complete, and its file is gone.
  case completedMissing
  /// It is complete, and its file is another one now.
  case completedModified
  /// It waits, before the others of its priority.
  case waitingFirst
  /// It waits, or has failed for now or for good: the failure says which.
  case waitingOrFailed

  /// The states that the record may have then; one, but for a failure.
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
  /// The result in the words of `docs/reconciliation.md`.
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
