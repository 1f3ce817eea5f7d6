package import DownloadReports
internal import DownloadStore
package import ObjectStore
internal import ProgramOutput

/// What has changed in a store between two points of its history.
package struct LiveChange: Sendable {
  /// A download that has changed.
  package struct Item: Sendable {
    /// The download.
    package var entry: DownloadEntry
    /// Its speed in bytes per second; `nil` if it does not run, or until the speed is known.
    package var bytesPerSecond: Double?
  }

  /// The totals of a store.
  package struct Summary: Sendable, Hashable {
    /// The number of downloads by the word of their state, one of `DownloadState.words`.
    package var counts: [String: Int] = [:]
    /// The sum of the known speeds.
    package var bytesPerSecond: Double = 0
    /// Whether an engine runs on the store, in any process.
    package var engineRuns = false
  }

  /// The position in the store's history up to which this change goes; see ``LiveToken``.
  package var token: String
  /// The downloads that were added or changed, with their current values.
  package var items: [Item] = []
  /// The ids of the downloads that were removed.
  package var removed: [String] = []
  /// The totals.
  package var summary = Summary()
  /// Whether too much has changed to list it, the history no longer has all of it, or the id of a deleted
  /// download is unknown: the client reads what it shows again.
  package var isReset = false

  /// The change as JSON: `{"records":[…],"removed":[…],"summary":{…}}`.
  ///
  /// A record has the members that `list --format json` prints, and `bytesPerSecond`, `secondsLeft` and
  /// `sentence`: why it has failed, or what it waits for.
  package var json: JSONValue {
    [
      "records": .array(items.map(\.json)),
      "removed": .array(removed.map(JSONValue.string)),
      "summary": summary.json,
    ]
  }
}

extension LiveChange.Item {
  /// The record with its speed, as JSON.
  package var json: JSONValue {
    guard case .object(var members) = RecordJSON.value(of: entry) else { return .null }
    let record = entry.record
    let estimate = ProgressEstimate(
      received: record.received,
      expected: record.expected,
      bytesPerSecond: bytesPerSecond
    )
    let seconds = entry.isRunning ? estimate.remaining.map { $0 / .seconds(1) } : nil
    members += [
      JSONValue.Member(name: "bytesPerSecond", value: JSONValue(bytesPerSecond.map(Self.whole))),
      JSONValue.Member(name: "secondsLeft", value: JSONValue(seconds.map(Self.whole))),
      JSONValue.Member(name: "sentence", value: JSONValue(StateSentence.text(of: entry))),
    ]
    return .object(members.sorted { $0.name < $1.name })
  }

  private static func whole(_ value: Double) -> Int64 { Int64(max(0, min(value.rounded(), 1e15))) }
}

extension LiveChange.Summary {
  /// The totals as JSON: `{"bytesPerSecond":…,"counts":{"running":1,…},"engine":true}`.
  package var json: JSONValue {
    [
      "bytesPerSecond": .integer(Speed.byteCount(bytesPerSecond)),
      "counts": .object(
        DownloadState.words.map { word in
          JSONValue.Member(name: word, value: .integer(Int64(counts[word] ?? 0)))
        }
      ),
      "engine": .bool(engineRuns),
    ]
  }
}
