internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// The output of `dlstore reconcile`.
struct ReconcileReport {
  var found: [Reconciliation]
  /// Partial files without a record.
  var orphans: [PurgePlan.File]
  var isApplied: Bool
  /// Whether the text has the rules and the actions of the rule table instead of sentences.
  var isVerbose = false

  /// One line per record, one line per orphan, and the counts.
  var text: String {
    guard !found.isEmpty || !orphans.isEmpty else {
      return "nothing to do: no unfinished downloads and no leftover files\n"
    }
    let table = isVerbose ? rules : sentences
    let lines = table.rows.isEmpty ? [] : table.lines()
    let records = "\(found.count) active \(found.count == 1 ? "record" : "records")"
    let files = "\(orphans.count) \(orphans.count == 1 ? "orphan" : "orphans")"
    return (lines + ["\(isApplied ? "reconciled" : "to reconcile"): \(records), \(files)"])
      .map { $0 + "\n" }.joined()
  }

  private var sentences: TableOutput {
    var table = TableOutput(columns: [
      .init(title: "ID"), .init(title: "STATE"), .init(title: "THE ENGINE"), .init(title: "NAME"),
    ])
    table.rows = found.map { found in
      [
        found.record.id, found.record.state.word(engineRuns: false),
        DecisionSentence.text(found.decision, received: found.record.received),
        found.record.filename,
      ]
    }
    table.rows += orphans.map { file in
      [Self.id(of: file), "none", DecisionSentence.text(orphan.decision, received: 0), file.path]
    }
    return table
  }

  private var rules: TableOutput {
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
        Self.id(of: file), orphan.word, orphan.decision.ruleNames, orphan.word, orphan.action,
        file.path,
      ]
    }
    return table
  }

  /// The id with which the name of a partial file begins.
  private static func id(of file: PurgePlan.File) -> String {
    file.path.split(separator: "/").last.map { String($0.prefix(16)) } ?? ""
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
