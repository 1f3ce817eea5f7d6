internal import ArgumentParser
internal import DownloadStore
internal import ObjectStore

/// The format of a list of downloads.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
  case table
  case json
  case jsonl
  case csv

  /// Writes the entries in this format.
  ///
  /// - Parameters:
  ///   - entries: The downloads in their order.
  ///   - width: The width of the terminal in columns; `nil` for a file or a pipe. Only on a terminal
  ///     are tables truncated and control characters in CSV replaced.
  ///   - write: Receives the text in parts of about 64 KiB.
  func render(
    _ entries: [DownloadEntry],
    width: Int?,
    to write: (String) throws -> Void
  ) rethrows {
    switch self {
    case .table:
      try write(Self.table(entries).lines(width: width).joined(separator: "\n") + "\n")
    case .json:
      guard !entries.isEmpty else { return try write("[]\n") }
      try Self.inParts(entries, start: "[\n", separator: ",\n", end: "\n]\n", to: write) {
        RecordJSON.value(of: $0).text
      }
    case .jsonl:
      try Self.inParts(entries, to: write) { RecordJSON.value(of: $0).text }
    case .csv:
      try write(CSVOutput.line(RecordCSV.titles) + "\n")
      try Self.inParts(entries, to: write) {
        CSVOutput.line(RecordCSV.cells(of: $0), onTerminal: width != nil)
      }
    }
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

  private static func table(_ entries: [DownloadEntry]) -> TableOutput {
    var table = TableOutput(columns: [
      .init(title: "ID"), .init(title: "STATE"), .init(title: "DONE", isAlignedRight: true),
      .init(title: "RECEIVED", isAlignedRight: true), .init(title: "SIZE", isAlignedRight: true),
      .init(title: "FILE"), .init(title: "NAME"), .init(title: "URL"),
    ])
    table.rows = entries.map { entry in
      [
        entry.record.id, entry.record.state.word,
        entry.fraction.map { "\(Int($0 * 100))%" } ?? "—",
        ByteAmount.text(entry.record.received),
        entry.record.expected.map(ByteAmount.text) ?? "—",
        entry.fileStatus.rawValue, entry.record.filename, entry.displayURL,
      ]
    }
    return table
  }
}

/// A record as one CSV line: the JSON record with its objects flattened.
enum RecordCSV {
  /// The header line.
  static let titles = [
    "id", "url", "filename", "folder", "type", "state", "intent", "received", "expected",
    "fraction", "resumeKind", "resumeReceived", "resumeValidator", "tags", "priority", "attempts",
    "errorCode", "errorMessage", "errorAt", "mirrors", "checksumExpected", "checksumVerified",
    "heldByHand", "createdAt", "updatedAt", "completedAt", "localPath", "fileStatus",
  ]

  /// The values in the order of the titles.
  ///
  /// Unknown values are empty, elements of lists are separated by blanks, and the URL is redacted.
  static func cells(of entry: DownloadEntry) -> [String] {
    let record = entry.record
    let resume = entry.resume
    let attempt = entry.lastAttempt
    let identity = [
      record.id, entry.displayURL, record.filename, record.folder, record.type, record.state.word,
      record.intent.rawValue,
    ]
    let progress = [
      String(record.received), record.expected.map { String($0) } ?? "",
      entry.fraction.map { String($0) } ?? "", resume?.kind ?? "",
      resume.map { String($0.received) } ?? "", resume?.validator ?? "",
    ]
    let rest = [
      record.tags.sorted().joined(separator: " "), String(record.priority),
      String(record.failedAttempts), attempt?.failure.code.rawValue ?? "",
      attempt.map { entry.message(of: $0) } ?? "", attempt.map { Timestamp.text($0.at) } ?? "",
      record.mirrors.map(Redaction.url).joined(separator: " "), record.expectedDigest ?? "",
      record.verifiedDigest ?? "", String(record.isHeld),
    ]
    return identity + progress + rest + [
      Timestamp.text(record.createdAt), Timestamp.text(record.updatedAt),
      record.completedAt.map(Timestamp.text) ?? "", entry.localPath ?? "",
      entry.fileStatus.rawValue,
    ]
  }
}

/// Comma-separated values (RFC 4180), with lines that end in a line feed only.
///
/// Cells hold their text exactly, for programs to read. On a terminal, control characters are
/// replaced, as `ls` does (decision 0023).
enum CSVOutput {
  /// Returns one line without its line feed.
  static func line(_ cells: [String], onTerminal: Bool = false) -> String {
    cells.map { quoted(onTerminal ? TerminalText.safe($0) : $0) }.joined(separator: ",")
  }

  private static func quoted(_ cell: String) -> String {
    // Compares bytes, because CR LF is a single Character.
    let needsQuotes = cell.utf8.contains {
      $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D || $0 == 0x20
    }
    guard needsQuotes else { return cell }
    return "\"" + cell.replacing("\"", with: "\"\"") + "\""
  }
}

/// A text table, aligned by the width of characters on a terminal.
struct TableOutput {
  /// One column.
  struct Column {
    /// The header.
    var title: String
    /// Whether cells are aligned at their right edge.
    var isAlignedRight = false
  }

  /// The columns, from left to right.
  var columns: [Column]
  /// The cells of each row, one per column.
  var rows: [[String]] = []

  /// The header line and the rows, truncated to `width` columns if given.
  func lines(width: Int? = nil) -> [String] {
    let rows = [columns.map(\.title)] + rows.map { $0.map(TerminalText.safe) }
    let widths = columns.indices.map { column in
      rows.map { TerminalText.width($0[column]) }.max() ?? 0
    }
    return rows.map { row in
      var cells = columns.indices.map { column in
        TerminalText.padded(
          row[column],
          to: widths[column],
          alignedRight: columns[column].isAlignedRight
        )
      }
      // No trailing blanks.
      if let last = columns.indices.last, !columns[last].isAlignedRight { cells[last] = row[last] }
      let line = cells.joined(separator: "  ")
      return width.map { TerminalText.truncated(line, to: $0) } ?? line
    }
  }
}
