internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// The answers of the API as JSON.
enum APIAnswers {
  /// A page of downloads: `{"downloads":[…],"next":…}`.
  static func page(_ page: DownloadPage) -> JSONValue {
    [
      "downloads": .array(page.entries.map { RecordJSON.value(of: $0) }),
      "next": JSONValue(page.next),
    ]
  }

  /// The outcomes of a command: `{"outcomes":[{"name":…,"outcome":"done","id":…,"state":…}],"done":1}`.
  static func outcomes(_ outcomes: [CommandOutcome], engineRuns: Bool) -> JSONValue {
    let values = outcomes.map { outcome -> JSONValue in
      let (word, record, error): (String, DownloadRecord?, RecordStoreError?) =
        switch outcome.effect {
        case .done(let record): ("done", record, nil)
        case .unchanged(let record): ("unchanged", record, nil)
        case .unknown(let error):
          (error.code == .ambiguousID ? "ambiguous" : "unknown", nil, error)
        }
      return [
        "filename": JSONValue(record?.filename),
        "id": JSONValue(record?.id),
        "message": JSONValue(error?.message),
        "name": .string(Redaction.text(outcome.name)),
        "outcome": .string(word),
        "state": JSONValue(record?.state.word(engineRuns: engineRuns)),
      ]
    }
    return [
      "done": .integer(Int64(outcomes.count(where: \.isDone))),
      "outcomes": .array(values),
    ]
  }

  /// The downloads that were added: `{"added":[{"new":true,"download":{…}}]}`.
  static func added(
    _ added: [RecordStore.Added],
    _ roots: Roots,
    engineRuns: Bool
  ) -> JSONValue {
    [
      "added": .array(
        added.map { added in
          let entry = DownloadEntry(added.record, roots, engineRuns: engineRuns)
          return ["download": RecordJSON.value(of: entry), "new": .bool(added.isNew)]
        }
      )
    ]
  }

  /// The totals: `{"records":…,"bytes":…,"bytesPerSecond":…,"engineRuns":…,"states":{…}}`.
  static func stats(
    _ totals: [StateTotals],
    _ summary: LiveChange.Summary,
    engineRuns: Bool,
    allowsChanges: Bool
  ) -> JSONValue {
    let bytes = totals.reduce(Int128(0)) { $0 + Int128($1.byteCount) }
    return [
      "allowsChanges": .bool(allowsChanges),
      "bytes": .integer(Int64(clamping: bytes)),
      "bytesPerSecond": .integer(Int64(max(0, min(summary.bytesPerSecond, 1e15)))),
      "engineRuns": .bool(engineRuns),
      "records": .integer(Int64(totals.reduce(0) { $0 + $1.recordCount })),
      "states": .object(
        totals.map { totals in
          JSONValue.Member(
            name: totals.word,
            value: [
              "bytes": .integer(totals.byteCount),
              "records": .integer(Int64(totals.recordCount)),
            ]
          )
        }
      ),
    ]
  }
}
