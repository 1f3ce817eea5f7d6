internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// The output of `dlstore reconcile`.
struct ReconcileReport {
  var found: [Reconciliation]
  /// Partial files without a record.
  var orphans: [PurgePlan.File]
  var isApplied: Bool

  /// One line per record, one line per orphan, and the counts.
  var text: String {
    var table = TableOutput(columns: [
      .init(title: "ID"), .init(title: "STATE"), .init(title: "RULES"), .init(title: "RESULT"),
      .init(title: "ACTIONS"), .init(title: "NAME"),
    ])
    table.rows = found.map { found in
      let steps = found.decision.steps
      return [
        found.record.id, found.reconcileCase.stored.rawValue, found.decision.ruleNames,
        found.decision.result.description,
        steps.isEmpty ? "nothing" : steps.joined(separator: "; "), found.record.filename,
      ]
    }
    table.rows += orphans.map { file in
      [
        file.path.split(separator: "/").last.map { String($0.prefix(16)) } ?? "", orphan.word,
        orphan.decision.ruleNames, orphan.word, orphan.action, file.path,
      ]
    }
    let lines = table.rows.isEmpty ? [] : table.lines()
    let records = "\(found.count) active \(found.count == 1 ? "record" : "records")"
    let files = "\(orphans.count) \(orphans.count == 1 ? "orphan" : "orphans")"
    return (lines + ["\(isApplied ? "reconciled" : "to reconcile"): \(records), \(files)"])
      .map { $0 + "\n" }.joined()
  }

  /// An object with the keys `applied`, `orphans` and `records`.
  var json: JSONValue {
    [
      "applied": .bool(isApplied),
      "orphans": .array(
        orphans.map { file in
          [
            "action": .string(orphan.action), "byteCount": .integer(file.size),
            "path": .string(file.path), "rule": .string(orphan.decision.ruleNames),
          ]
        }
      ),
      "records": .array(found.map(Self.value(of:))),
    ]
  }

  private static func value(of found: Reconciliation) -> JSONValue {
    let record: [JSONValue.Member] = [
      JSONValue.Member(name: "displayURL", value: .string(Redaction.url(found.record.url))),
      JSONValue.Member(name: "filename", value: .string(found.record.filename)),
      JSONValue.Member(name: "id", value: .string(found.record.id)),
      JSONValue.Member(name: "url", value: .string(found.record.url)),
    ]
    let members = DecisionJSON.members(of: found.reconcileCase, found.decision) + record
    return .object(members.sorted { $0.name < $1.name })
  }

  /// The decision for a partial file without a record.
  private var orphan: (word: String, action: String, decision: ReconcileDecision) {
    let decision = Reconciler.decide(ReconcileCase(stored: .none, partial: .longer))
    return (
      ReconcileCase.Stored.none.rawValue, decision.steps.joined(separator: "; "), decision
    )
  }
}
