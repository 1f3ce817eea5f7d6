internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// A reconciliation decision as text for people.
enum DecisionText {
  /// The case, the transports that reach it, the rules that apply with their conditions, the
  /// actions, and the result.
  static func lines(
    of reconcileCase: ReconcileCase,
    _ decision: ReconcileDecision,
    as word: ResumeDataWord? = nil
  ) -> [String] {
    let cells = DecisionTSV.cells(of: reconcileCase, decision, as: word)
    let axes = zip(DecisionTSV.titles, cells).prefix(5).map { "\($0) \($1)" }
    var rows = [
      ("case", axes.joined(separator: ", ")), ("met by", reconcileCase.reach(decision).rawValue),
    ]
    let named = ReconcileTable.standard.rules.filter { decision.rules.contains($0.id) }
    rows += named.map { ("rule", "\($0.id.rawValue): \($0.condition)") }
    if named.isEmpty { rows.append(("rule", cells[5])) }
    let plans = ReconcileTable.standard.planRules.filter {
      decision.plan?.rules.contains($0.id) == true
    }
    rows += plans.map { ("plan", "\($0.id.rawValue): \($0.condition)") }
    rows += [
      ("actions", cells[6]), ("next byte", decision.plan?.source.rawValue ?? ""),
      ("result", cells[7]),
    ]
    return rows.filter { !$0.1.isEmpty }.map { name, value in
      "\(TerminalText.padded(name, to: 9))  \(value)"
    }
  }
}

/// Decisions as tab-separated values.
enum DecisionTSV {
  /// The header line.
  static let titles = [
    "stored", "task", "final", "partial", "resumeData", "rules", "actions", "result", "plan",
  ]

  /// The values of a case and its decision.
  ///
  /// No rules are written `none`, no actions `nothing`.
  static func cells(
    of reconcileCase: ReconcileCase,
    _ decision: ReconcileDecision,
    as word: ResumeDataWord? = nil
  ) -> [String] {
    let rules = decision.rules.map(\.rawValue).joined(separator: "+")
    let actions = (decision.actions + (decision.plan?.actions ?? [])).map(\.rawValue)
    let plan = decision.plan?.rules.map(\.rawValue).joined(separator: "+")
    return [
      reconcileCase.stored.rawValue, reconcileCase.task.rawValue, reconcileCase.final.rawValue,
      reconcileCase.partial.rawValue, word?.rawValue ?? reconcileCase.resumeData.rawValue,
      rules.isEmpty ? "none" : rules,
      actions.isEmpty ? "nothing" : actions.joined(separator: "; "),
      decision.result.description, plan ?? "none",
    ]
  }

  /// Returns the cells as one line with its line feed.
  static func line(_ cells: [String]) -> String {
    cells.joined(separator: "\t") + "\n"
  }
}

/// A decision as JSON.
enum DecisionJSON {
  /// The case, its decision, and the transports that reach it.
  static func value(
    of reconcileCase: ReconcileCase,
    _ decision: ReconcileDecision,
    as word: ResumeDataWord? = nil
  ) -> JSONValue {
    let reach = JSONValue.string(reconcileCase.reach(decision).rawValue)
    return .object(
      members(of: reconcileCase, decision, as: word)
        + [JSONValue.Member(name: "transports", value: reach)]
    )
  }

  /// The members in the order of their keys.
  static func members(
    of reconcileCase: ReconcileCase,
    _ decision: ReconcileDecision,
    as word: ResumeDataWord? = nil
  ) -> [JSONValue.Member] {
    [
      JSONValue.Member(name: "actions", value: words(decision.actions.map(\.rawValue))),
      JSONValue.Member(name: "case", value: value(of: reconcileCase, as: word)),
      JSONValue.Member(name: "plan", value: decision.plan.map(value(of:)) ?? .null),
      JSONValue.Member(name: "result", value: .string(decision.result.description)),
      JSONValue.Member(name: "rules", value: words(decision.rules.map(\.rawValue))),
    ]
  }

  private static func value(of reconcileCase: ReconcileCase, as word: ResumeDataWord?) -> JSONValue
  {
    [
      "final": .string(reconcileCase.final.rawValue),
      "partial": .string(reconcileCase.partial.rawValue),
      "resumeData": .string(word?.rawValue ?? reconcileCase.resumeData.rawValue),
      "stored": .string(reconcileCase.stored.rawValue),
      "task": .string(reconcileCase.task.rawValue),
    ]
  }

  private static func value(of plan: TransferPlan) -> JSONValue {
    [
      "actions": words(plan.actions.map(\.rawValue)),
      "rules": words(plan.rules.map(\.rawValue)),
      "source": .string(plan.source.rawValue),
    ]
  }

  private static func words(_ words: [String]) -> JSONValue {
    .array(words.map(JSONValue.string))
  }
}

/// The reconciliation rules as Markdown, for the documentation.
enum RuleTableText {
  /// The rules that every transport reaches, then those of background transports.
  ///
  /// Two tables each: the actions, and the source of the next byte.
  static var markdown: String {
    markdown(.core) + "\n### Background transports\n\n" + markdown(.background)
  }

  private static func markdown(_ table: ReconcileTable) -> String {
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
