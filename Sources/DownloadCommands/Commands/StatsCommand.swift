internal import ArgumentParser
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// `dlstore stats`: shows the size and the use of a store.
struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Shows how many records a store has, and the size and use of its file.",
    discussion: """
      Works on the folder of any ObjectStore, without its models. Reads no whole records. The bytes \
      of downloads are those on disk. Readers are the processes that have a snapshot open; pages \
      freed after a snapshot was opened cannot be reused until it is closed.

      EXAMPLES:
        dlstore stats
        dlstore stats --json
        dlstore --store /var/lib/notes stats
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    let report = try StatsReport(of: location, reading)
    if json {
      try Output.current.line(report.json.prettyText)
    } else {
      try Output.current.write(report.text(width: Terminal.output.width))
    }
  }
}

/// The output of `dlstore stats`.
struct StatsReport {
  let path: String
  /// The size of `data.mdb` on disk, in bytes.
  let fileSize: Int64
  let statistics: StoreStatistics
  /// The records by state; `nil` if the store is not one of downloads.
  let totals: [StateTotals]?
  /// The process of the running engine, as `process N`; `nil` if none runs.
  let engine: String?

  init(of location: StoreLocation, _ reading: ImmutableOption) throws {
    let store = try location.openedWithoutModels(reading)
    path = location.resolved()
    // First, so that the list of readers contains none of ours.
    statistics = try store.statistics()
    fileSize = FileIdentity(ofFileAt: path + "/data.mdb")?.size ?? Int64(statistics.fileSize)
    let hasDownloads = try store.hasDownloads()
    totals = hasDownloads ? try location.openedForReading(reading).totals() : nil
    engine = hasDownloads ? EngineLock.holder(storePath: path) : nil
  }

  private var freeBytes: Int64 { Int64(statistics.freePages * statistics.pageSize) }

  private var mapFraction: Double {
    statistics.mapSize > 0 ? Double(statistics.fileSize) / Double(statistics.mapSize) : 0
  }

  private var models: [(name: String, model: StoreStatistics.Model)] {
    statistics.models.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private var sum: StateTotals {
    (totals ?? []).reduce(StateTotals(word: "total", recordCount: 0, byteCount: 0)) {
      StateTotals(
        word: $0.word,
        recordCount: $0.recordCount + $1.recordCount,
        byteCount: Int64(clamping: Int128($0.byteCount) + Int128($1.byteCount))
      )
    }
  }

  // MARK: Text

  /// The properties of the file, one per line, and a table of states and of models.
  func text(width: Int?) -> String {
    var lines = properties.map { name, value in
      TerminalText.padded(name, to: 18) + TerminalText.safe(value)
    }
    if let totals {
      var table = TableOutput(columns: [
        .init(title: "STATE"), .init(title: "RECORDS", isAlignedRight: true),
        .init(title: "BYTES", isAlignedRight: true),
      ])
      table.rows = (totals + [sum]).map { totals in
        [totals.word, "\(totals.recordCount)", ByteAmount.text(totals.byteCount)]
      }
      lines += [""] + table.lines(width: width)
    }
    var table = TableOutput(columns: [
      .init(title: "MODEL"), .init(title: "OBJECTS", isAlignedRight: true),
      .init(title: "SIZE", isAlignedRight: true), .init(title: "INDEXES", isAlignedRight: true),
    ])
    table.rows = models.map { name, model in
      [
        name, "\(model.objects)", ByteAmount.text(Int64(model.byteCount)),
        "\(model.indexes.count)",
      ]
    }
    lines += [""] + table.lines(width: width)
    return lines.map { $0 + "\n" }.joined()
  }

  private var properties: [(String, String)] {
    let used = Int64(statistics.fileSize) - freeBytes
    var rows = [
      ("store", path),
      ("file size", "\(ByteAmount.text(fileSize)) (\(fileSize) bytes)"),
      ("used", "\(ByteAmount.text(used)); \(ByteAmount.text(freeBytes)) in free pages"),
      ("map use", "\(percent(mapFraction)) of \(ByteAmount.text(Int64(statistics.mapSize)))"),
      ("last transaction", "\(statistics.lastCommit)"),
      ("readers", "\(statistics.readers.count) of at most \(statistics.maximumReaders)"),
    ]
    rows += statistics.readers.map { reader in
      ("", "process \(reader.processID), \(reader.ageInCommits) commits behind")
    }
    if totals != nil { rows.append(("engine", engine.map { "runs (\($0))" } ?? "not running")) }
    return rows
  }

  private func percent(_ fraction: Double) -> String {
    let hundredths = Int((fraction * 10_000).rounded(.up))
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)%"
  }

  // MARK: JSON

  /// One object, with the keys that `docs/cli.md` lists.
  var json: JSONValue {
    [
      "path": .string(path),
      "file": [
        "size": .integer(fileSize), "used": .integer(Int64(statistics.fileSize) - freeBytes),
        "free": .integer(freeBytes), "pageSize": .integer(Int64(statistics.pageSize)),
      ],
      "map": ["size": .integer(Int64(statistics.mapSize)), "fraction": .double(mapFraction)],
      "lastTransaction": .number("\(statistics.lastCommit)"),
      "readers": .array(
        statistics.readers.map { reader in
          [
            "process": .integer(Int64(reader.processID)),
            "commitsBehind": .number("\(reader.ageInCommits)"),
          ]
        }
      ),
      "maximumReaders": .integer(Int64(statistics.maximumReaders)),
      "engineRuns": .bool(engine != nil),
      "downloads": totals.map(downloads) ?? .null,
      "models": .array(
        models.map { name, model in
          [
            "name": .string(name), "objects": .integer(Int64(model.objects)),
            "size": .integer(Int64(model.byteCount)),
            "indexes": .integer(Int64(model.indexes.count)),
          ]
        }
      ),
    ]
  }

  private func downloads(_ totals: [StateTotals]) -> JSONValue {
    [
      "records": .integer(Int64(sum.recordCount)), "bytes": .integer(sum.byteCount),
      "states": .object(
        totals.map { totals in
          JSONValue.Member(
            name: totals.word,
            value: [
              "records": .integer(Int64(totals.recordCount)),
              "bytes": .integer(totals.byteCount),
            ]
          )
        }
      ),
    ]
  }
}
