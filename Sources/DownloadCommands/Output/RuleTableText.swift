internal import DownloadSync

/// The reconciliation rules as Markdown, for the documentation.
enum RuleTableText {
  /// Two tables: the actions, and the source of the next byte.
  static func markdown(_ table: ReconcileTable) -> String {
    let rules = table.rules.map { rule in
      [rule.id.rawValue, rule.condition, words(rule.actions), rule.outcomeWords]
    }
    let plans = table.planRules.map { rule in
      [rule.id.rawValue, rule.condition, words(rule.actions), rule.source?.rawValue ?? "continue"]
    }
    return text(["rule", "when", "do", "result"], rules) + "\n"
      + text(["rule", "when", "do first", "next byte"], plans)
  }

  private static func words(_ actions: [ReconcileAction]) -> String {
    actions.isEmpty ? "nothing" : actions.map(\.rawValue).joined(separator: "; ")
  }

  private static func text(_ titles: [String], _ rows: [[String]]) -> String {
    ([titles, titles.map { _ in "---" }] + rows)
      .map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
  }
}
