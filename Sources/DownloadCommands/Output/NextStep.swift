internal import DownloadSync
internal import Foundation

/// What the next reconciliation will do about a record, if no task runs for it.
struct NextStep: Sendable, Equatable {
  /// The rules that fire, joined by `+` in their order.
  var rule: String
  /// What is done, joined by `; ` in its order; or `nothing`.
  var action: String

  /// `nil` when it is not known where the record's files are.
  init?(of entry: DownloadEntry, now: Date = Date()) {
    guard let files = entry.facts else { return nil }
    let decision = Reconciler.decide(ReconcileCase(record: entry.record, files: files, now: now))
    rule = decision.ruleNames
    action = decision.steps.isEmpty ? "nothing" : decision.steps.joined(separator: "; ")
  }
}
