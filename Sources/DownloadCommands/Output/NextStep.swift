internal import DownloadSync
internal import Foundation

/// The outcome of the next reconciliation of a record that has no live task.
struct NextStep: Sendable, Equatable {
  /// The rules that apply, joined by `+` in their order.
  var rule: String
  /// The actions, joined by `; ` in their order, or `nothing`.
  var action: String

  /// `nil` if the store has no root of the record's name.
  init?(of entry: DownloadEntry, now: Date = Date()) {
    guard let files = entry.files else { return nil }
    let decision = Reconciler.decide(ReconcileCase(record: entry.record, files: files, now: now))
    rule = decision.ruleNames
    action = decision.steps.isEmpty ? "nothing" : decision.steps.joined(separator: "; ")
  }
}
