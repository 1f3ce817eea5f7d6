internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports

/// Options for the output of a list.
struct ListOptions: ParsableArguments {
  @Option(help: "The output format.")
  var format = OutputFormat.table

  @Flag(help: "As --format json.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print only the ids, one on each line.")
  var quiet = false

  @Option(
    help: ArgumentHelp(
      "The columns of a table or of CSV: fields of the JSON record, or titles of the table.",
      valueName: "name,…"
    ),
    transform: { text in
      try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
        guard let column = RecordColumn(named: String(name)) else {
          let own = RecordColumn.allCases.map(\.rawValue)
          let names = own + RecordColumn.aliases.keys.sorted()
          throw ValidationError(
            "'\(name)' is not a column. The columns are: \(names.joined(separator: " "))."
              + Suggestion.text(for: String(name), among: names)
          )
        }
        return column
      }
    }
  )
  var columns: [RecordColumn]?

  @Flag(help: "Show exact byte counts instead of amounts such as 1.5 MiB.")
  var bytes = false

  @Flag(help: "Omit the header line of a table or of CSV.")
  var noHeader = false

  @Flag(help: "With --watch on a terminal: print the list after each change, without redrawing it.")
  var noProgress = false

  @OptionGroup var color: ColorOption

  func validate() throws {
    guard !json || format == .table || format == .json else {
      throw ValidationError("--json and --format \(format.rawValue) cannot be combined.")
    }
    guard !quiet || !json && format == .table && columns == nil else {
      throw ValidationError("-q cannot be combined with --format, --json or --columns.")
    }
    switch json ? .json : format {
    case .table, .csv: break
    case .json, .jsonl:
      guard columns == nil, !noHeader else {
        throw ValidationError("--columns and --no-header need --format table or csv.")
      }
    }
  }

  /// The list's output.
  var output: ListOutput {
    // An id needs no quotes, and no line of CSV is cut to the width of a terminal.
    guard !quiet else { return ListOutput(format: .csv, columns: [.id], hasHeader: false) }
    return ListOutput(
      format: json ? .json : format,
      columns: columns,
      showsBytes: bytes,
      hasHeader: !noHeader
    )
  }
}
