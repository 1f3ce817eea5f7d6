internal import ArgumentParser
internal import CommandLineSupport

/// Options for the output of a list.
struct ListOptions: ParsableArguments {
  @Option(help: "The output format.")
  var format = OutputFormat.table

  @Option(
    help: ArgumentHelp(
      "The columns of a table or of CSV: fields of the JSON record, or titles of the table.",
      valueName: "name,…"
    ),
    transform: { text in
      try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
        guard let column = RecordColumn(named: String(name)) else {
          let own = RecordColumn.allCases.map(\.rawValue)
          let names = (own + RecordColumn.aliases.keys.sorted()).joined(separator: " ")
          throw ValidationError("'\(name)' is not a column. The columns are: \(names)")
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
    switch format {
    case .table, .csv: break
    case .json, .jsonl:
      guard columns == nil, !noHeader else {
        throw ValidationError("--columns and --no-header need --format table or csv.")
      }
    }
  }

  /// The list's output.
  var output: ListOutput {
    ListOutput(format: format, columns: columns, showsBytes: bytes, hasHeader: !noHeader)
  }
}
