internal import DownloadStore
internal import ObjectStore

/// A list of downloads in one format.
struct ListOutput {
  var format = OutputFormat.table
  /// The columns of a table or of CSV; `nil` for the default ones.
  var columns: [RecordColumn]?
  /// Whether a table shows exact byte counts.
  var showsBytes = false
  /// Whether a table or CSV begins with the names of the columns.
  var hasHeader = true

  /// Writes the entries.
  ///
  /// - Parameters:
  ///   - entries: The downloads in their order.
  ///   - style: The destination. Only on a terminal are tables fitted to its width and control
  ///     characters in CSV replaced; only tables are colored.
  ///   - write: Receives the text in parts of about 64 KiB.
  func render(
    _ entries: [DownloadEntry],
    style: TerminalStyle = TerminalStyle(),
    to write: (String) throws -> Void
  ) rethrows {
    switch format {
    case .table:
      let text = table(entries).lines(style).map { $0 + "\n" }.joined()
      if !text.isEmpty { try write(text) }
    case .json:
      guard !entries.isEmpty else { return try write("[]\n") }
      try Self.inParts(entries, start: "[\n", separator: ",\n", end: "\n]\n", to: write) {
        RecordJSON.value(of: $0).text
      }
    case .jsonl:
      try Self.inParts(entries, to: write) { RecordJSON.value(of: $0).text }
    case .csv:
      let columns = columns ?? RecordColumn.csv
      if hasHeader { try write(CSVOutput.line(columns.map(\.rawValue)) + "\n") }
      try Self.inParts(entries, to: write) { entry in
        CSVOutput.line(
          columns.map { $0.value(of: entry).exactText },
          onTerminal: style.width != nil
        )
      }
    }
  }

  /// Returns the table of the downloads.
  ///
  /// - Parameters:
  ///   - entries: The downloads in their order.
  ///   - speeds: The speeds of running downloads by their ids, in bytes per second. If given, the
  ///     default table has columns for the progress bar, the speed and the remaining time.
  /// - Returns: A row per download.
  func table(_ entries: [DownloadEntry], speeds: [String: Double]? = nil) -> TableOutput {
    if columns == nil, let speeds { return liveTable(entries, speeds) }
    // Chosen columns are dropped from the right.
    let chosen = columns?.enumerated().map { $1.tableColumn(importance: -$0) }
    let shown = columns ?? RecordColumn.table
    var table = TableOutput(columns: chosen ?? shown.map { $0.tableColumn() })
    table.hasHeader = hasHeader
    table.rows = entries.map { entry in
      shown.map { $0.value(of: entry).tableText(showsBytes: showsBytes) }
    }
    return table
  }

  private func liveTable(_ entries: [DownloadEntry], _ speeds: [String: Double]) -> TableOutput {
    let columns: [RecordColumn] = [.id, .state, .fraction, .received, .expected]
    var table = TableOutput(columns: columns.map { $0.tableColumn() })
    table.columns += [
      .init(title: "SPEED", isAlignedRight: true, importance: 5),
      .init(title: "ETA", isAlignedRight: true, importance: 3),
      .init(title: "PROGRESS", importance: 1),
      RecordColumn.filename.tableColumn(), RecordColumn.url.tableColumn(),
    ]
    table.hasHeader = hasHeader
    table.rows = entries.map { entry in
      let estimate = ProgressEstimate(
        received: entry.record.received,
        expected: entry.record.expected,
        bytesPerSecond: speeds[entry.record.id]
      )
      let isRunning = entry.record.state == .running
      let remaining = isRunning ? estimate.remaining : nil
      let cells = columns.map { $0.value(of: entry).tableText(showsBytes: showsBytes) }
      return cells + [
        estimate.bytesPerSecond.map(Speed.text) ?? "",
        remaining.map { TimeSpan.text($0 / .seconds(1)) } ?? "",
        isRunning ? ProgressBar.text(estimate.fraction, width: 12) : "",
        entry.record.filename, entry.displayURL,
      ]
    }
    return table
  }

  private static func inParts(
    _ entries: [DownloadEntry],
    start: String = "",
    separator: String = "\n",
    end: String = "\n",
    to write: (String) throws -> Void,
    _ text: (DownloadEntry) -> String
  ) rethrows {
    guard !entries.isEmpty else { return }
    var part = start
    for (index, entry) in entries.enumerated() {
      part += text(entry)
      part += index == entries.count - 1 ? end : separator
      if part.utf8.count > 65_536 {
        try write(part)
        part = ""
      }
    }
    if !part.isEmpty { try write(part) }
  }
}
