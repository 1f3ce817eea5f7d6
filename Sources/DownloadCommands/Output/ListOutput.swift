internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import Foundation
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

  /// Writes downloads as they are read.
  ///
  /// The width of a table's columns depends on all its rows. A table is therefore read twice: to
  /// measure the cells, and to write them.
  ///
  /// - Parameters:
  ///   - entries: The downloads.
  ///   - style: The destination. Only on a terminal are tables fitted to its width and control
  ///     characters in CSV replaced; only tables are colored.
  ///   - write: Receives the text, in UTF-8, in parts of about 64 KiB.
  /// - Throws: The errors of `entries` and `write`.
  func render(
    _ entries: EntryStream,
    style: TerminalStyle = TerminalStyle(),
    to write: @escaping ([UInt8]) throws -> Void
  ) throws {
    var text = TextParts(write)
    switch format {
    case .table: try renderTable(entries, style, to: &text)
    case .json:
      var isEmpty = true
      try entries { entry in
        try text.append(isEmpty ? "[\n" : ",\n")
        try text.append(RecordJSON.value(of: entry))
        isEmpty = false
      }
      try text.append(isEmpty ? "[]\n" : "\n]\n")
    case .jsonl:
      try entries { entry in
        try text.append(RecordJSON.value(of: entry))
        try text.append("\n")
      }
    case .csv:
      let columns = columns ?? RecordColumn.csv
      if hasHeader { try text.append(CSVOutput.line(columns.map(\.rawValue)) + "\n") }
      try entries { entry in
        let cells = columns.map { $0.value(of: entry).exactText }
        try text.append(CSVOutput.line(cells, onTerminal: style.width != nil))
        try text.append("\n")
      }
    }
    try text.finish()
  }

  private func renderTable(
    _ entries: EntryStream,
    _ style: TerminalStyle,
    to text: inout TextParts
  ) throws {
    let table = emptyTable
    var widths = TableOutput.ContentWidths(of: table, style)
    try entries { widths.add(cells(of: $0)) }
    let places = TableLayout.places(
      of: table.columns,
      contentWidths: widths.widths,
      width: style.width
    )
    if hasHeader { try text.append(table.header(places, style) + "\n") }
    try entries { try text.append(table.line(cells(of: $0), places, style) + "\n") }
  }

  /// Returns the table of the downloads.
  ///
  /// - Parameters:
  ///   - entries: The downloads in their order.
  ///   - speeds: The speeds of running downloads by their ids, in bytes per second. If given, the
  ///     default table has columns for the progress bar, the speed and the remaining time, in whose
  ///     place the reason of a failure may be.
  ///   - selected: The id of the download that is marked; `nil` for none.
  ///   - now: The current time.
  /// - Returns: A row per download.
  func table(
    _ entries: [DownloadEntry],
    speeds: [String: Double]? = nil,
    selected: String? = nil,
    now: Date = Date()
  ) -> TableOutput {
    if columns == nil, let speeds {
      let table = liveTable(entries, speeds, now)
      return selected.map { table.marking($0, entries) } ?? table
    }
    var table = emptyTable
    table.rows = entries.map(cells)
    return table
  }

  private var emptyTable: TableOutput {
    // Chosen columns are dropped from the right.
    let chosen = columns?.enumerated().map { $1.tableColumn(importance: -$0) }
    var table = TableOutput(columns: chosen ?? RecordColumn.table.map { $0.tableColumn() })
    table.hasHeader = hasHeader
    return table
  }

  private func cells(of entry: DownloadEntry) -> [String] {
    (columns ?? RecordColumn.table).map { $0.value(of: entry).tableText(showsBytes: showsBytes) }
  }

  private func liveTable(
    _ entries: [DownloadEntry],
    _ speeds: [String: Double],
    _ now: Date
  ) -> TableOutput {
    let columns: [RecordColumn] = [.id, .state, .fraction, .received, .expected]
    let importances = [2, 7, 4, 1, 3]
    // The widths of figures that grow while a download runs, such as 9% and 100%.
    let widths: [RecordColumn: Int] = [.fraction: 4, .received: 8]
    var table = TableOutput(
      columns: zip(columns, importances).map { $0.tableColumn(importance: $1) }
    )
    table.columns += [
      .init(title: "SPEED", isAlignedRight: true, importance: 5),
      .init(title: "ETA", isAlignedRight: true, importance: 3),
      .init(title: "PROGRESS", importance: 6, takesBlankCells: true),
      RecordColumn.filename.tableColumn(importance: 8), RecordColumn.url.tableColumn(),
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
      let reason = isRunning ? "" : WatchFrame.reason(of: entry, now: now)
      let cells = columns.map { column in
        let value = column.value(of: entry)
        // A reason takes the place of what is unknown.
        if value == .missing, !reason.isEmpty { return "" }
        let text = value.tableText(showsBytes: showsBytes)
        return isRunning
          ? TerminalText.padded(text, to: widths[column] ?? 0, alignedRight: true) : text
      }
      return cells + [
        isRunning ? Self.right(estimate.bytesPerSecond.map(Speed.column), Speed.columnWidth) : "",
        isRunning ? Self.right(remaining.map { TimeSpan.text($0 / .seconds(1)) }, 5) : "",
        isRunning ? ProgressBar.text(estimate.fraction, width: 12) : reason,
        entry.record.filename, entry.displayURL,
      ]
    }
    return table
  }
}

extension ListOutput {
  /// Returns a figure that changes each second, in a column that keeps its width.
  fileprivate static func right(_ text: String?, _ width: Int) -> String {
    TerminalText.padded(text ?? "--", to: width, alignedRight: true)
  }
}

extension TableOutput {
  /// Returns the table with a first column that marks a download.
  fileprivate func marking(_ id: String, _ entries: [DownloadEntry]) -> TableOutput {
    var table = self
    table.columns.insert(Column(title: "", minimumWidth: 1, importance: 9), at: 0)
    for (index, entry) in entries.enumerated() {
      table.rows[index].insert(entry.record.id == id ? ">" : " ", at: 0)
    }
    return table
  }
}

/// Collects text, and writes it in parts of about 64 KiB.
private struct TextParts {
  private static let size = 65_536

  private let write: ([UInt8]) throws -> Void
  private var part: [UInt8] = []

  init(_ write: @escaping ([UInt8]) throws -> Void) {
    self.write = write
  }

  mutating func append(_ text: String) throws {
    part.append(contentsOf: text.utf8)
    if part.count > Self.size { try flush() }
  }

  mutating func append(_ value: JSONValue) throws {
    value.writeSafely(to: &part)
    if part.count > Self.size { try flush() }
  }

  mutating func finish() throws {
    if !part.isEmpty { try flush() }
  }

  private mutating func flush() throws {
    try write(part)
    part.removeAll(keepingCapacity: true)
  }
}
