internal import ObjectStore

/// Writes objects in an output format, as they arrive.
struct StoredObjectWriter {
  private let format: OutputFormat
  private let output: StoredObjectOutput
  private var table: TableOutput
  private var text = ""
  private var isFirst = true

  init(format: OutputFormat, output: StoredObjectOutput) {
    self.format = format
    self.output = output
    table = TableOutput(columns: output.columns.map { .init(title: $0.name) })
    if format == .csv { text = CSVOutput.line(output.columns.map(\.name)) + "\n" }
  }

  mutating func add(_ object: StoredObject) throws {
    switch format {
    case .table: table.rows.append(output.tableCells(of: object))
    case .json: text += (isFirst ? "[\n" : ",\n") + output.json(of: object).text
    case .jsonl: text += output.json(of: object).text + "\n"
    case .csv:
      let isOnTerminal = Terminal.output.isTerminal
      text += CSVOutput.line(output.cells(of: object), onTerminal: isOnTerminal) + "\n"
    }
    isFirst = false
    guard text.utf8.count > 65_536 else { return }
    try Output.current.write(text)
    text = ""
  }

  mutating func finish() throws {
    switch format {
    case .table: text = table.lines(width: Terminal.output.width).joined(separator: "\n") + "\n"
    case .json: text += isFirst ? "[]\n" : "\n]\n"
    case .jsonl, .csv: break
    }
    if !text.isEmpty { try Output.current.write(text) }
  }
}
