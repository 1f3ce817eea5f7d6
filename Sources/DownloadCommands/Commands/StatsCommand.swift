internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
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

      --engine tells monitors whether an engine runs: the exit code is 0 if one does, and 1 if not.

      EXAMPLES:
        dlstore stats
        dlstore stats --json
        dlstore stats --engine
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Print only whether an engine runs on the store; the exit code is 1 if none does.")
  var engine = false

  func validate() throws {
    guard !engine || !json else {
      throw ValidationError("--engine prints one line: it cannot be combined with --json.")
    }
  }

  func run() async throws {
    guard !engine else { return try printEngine() }
    let report = try StatsReport(of: location, reading)
    if json {
      try Output.current.line(report.json.prettyText)
    } else {
      try Output.current.write(report.text(width: Terminal.output.width))
    }
  }
}

extension StatsCommand {
  /// Prints which process is the engine, without opening the store.
  private func printEngine() throws {
    let path = try location.existing()
    guard let holder = EngineLock.holder(storePath: path) else {
      throw CommandFailure(
        .failed,
        "no engine runs on \(TerminalText.safe(path)): \(SuggestedCommand.text("run")) starts one"
      )
    }
    try Output.current.line("the engine runs (\(holder))")
  }
}

/// The output of `dlstore stats`.
struct StatsReport {
  private let store: StoreStatsReport
  /// The records by state; `nil` if the store is not one of downloads.
  private let totals: [StateTotals]?
  /// The process of the running engine, as `process N`; `nil` if none runs.
  private let engine: String?

  init(of location: StoreLocation, _ reading: ImmutableOption) throws {
    let opened = try location.openedWithoutModels(reading)
    let path = location.resolved()
    // First, so that the list of readers contains none of ours.
    store = try StoreStatsReport(of: opened, path: path)
    let hasDownloads = try opened.hasDownloads()
    let engine = hasDownloads ? EngineLock.holder(storePath: path) : nil
    totals =
      hasDownloads
      ? try location.openedForReading(reading).totals(engineRuns: engine != nil) : nil
    self.engine = engine
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
    var properties = store.properties
    if totals != nil {
      properties.append(("engine", engine.map { "runs (\($0))" } ?? "not running"))
    }
    var lines = StoreStatsReport.lines(of: properties)
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
    lines += [""] + store.modelTable.lines(width: width)
    return lines.map { $0 + "\n" }.joined()
  }

  // MARK: JSON

  /// One object, with the keys that `docs/cli.md` lists.
  var json: JSONValue {
    store.json(adding: [
      .init(name: "engineRuns", value: .bool(engine != nil)),
      .init(name: "downloads", value: totals.map(downloads) ?? .null),
    ])
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
