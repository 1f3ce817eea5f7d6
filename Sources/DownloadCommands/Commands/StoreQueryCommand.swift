internal import ArgumentParser
internal import ObjectStore

/// `dlstore store query`: lists objects of a model.
struct StoreQueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Lists the objects of a model.",
    discussion: """
      Without --sort the objects are in the order in which they were inserted, and the search ends \
      at the limit. A condition on an indexed field uses the index. In arrays and sets, --where \
      finds an element. null finds objects without a value. JSON has the value forms of an export; \
      tables and CSV show dates as ISO 8601 in UTC.

      EXAMPLES:
        dlstore store query DownloadRecord --where state=waiting --limit 10
        dlstore store query DownloadRecord --sort received:desc --limit 5
        dlstore store query DownloadRecord --fields id,received --format csv
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @Argument(help: ArgumentHelp("The name of the model.", valueName: "model"))
  var name: String

  @Option(
    name: .customLong("where"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "List objects whose field has the value; given several times, all must hold.",
      valueName: "field=value"
    ),
    transform: { text in
      guard let condition = FieldCondition(text) else {
        throw ValidationError("'\(text)' is not a condition: write FIELD=VALUE.")
      }
      return condition
    }
  )
  var conditions: [FieldCondition] = []

  @Option(
    name: .customLong("sort"),
    help: ArgumentHelp(
      "Sort by a field; objects without a value come last.",
      valueName: "field[:desc]"
    ),
    transform: { text in
      guard let order = StoredOrderOption(text) else {
        throw ValidationError("'\(text)' is not a sort order: write FIELD or FIELD:desc.")
      }
      return order
    }
  )
  var order: StoredOrderOption?

  @Option(help: ArgumentHelp("List at most this many, from 0.", valueName: "n"))
  var limit: Int?

  @Option(
    help: ArgumentHelp("Show these fields, in this order.", valueName: "field[,field]"),
    transform: { $0.split(separator: ",").map(String.init) }
  )
  var fields: [String] = []

  @Option(help: "The output format.")
  var format = OutputFormat.table

  @Flag(help: "Show the secrets of downloads unredacted.")
  var revealSecrets = false

  func validate() throws {
    guard (limit ?? 0) >= 0 else { throw ValidationError("--limit must be at least 0.") }
  }

  func run() async throws {
    let store = try location.openedWithoutModels(reading)
    let model = try store.storedModel(named: name)
    let output = try StoredObjectOutput(model, fields: fields, revealsSecrets: revealSecrets)
    let conditions = try conditions.map { try $0.resolved(in: model) }
    var writer = StoredObjectWriter(format: format, output: output)
    let sort = try order.map { order in
      StoredOrder(
        fieldID: try model.field(named: order.field).id,
        direction: order.isDescending ? .descending : .ascending
      )
    }
    try store.forEachStoredObject(
      of: name,
      where: conditions,
      order: sort,
      limit: limit ?? .max
    ) { object in
      try writer.add(object)
      return true
    }
    try writer.finish()
  }
}

/// Writes objects in an output format, as they arrive.
private struct StoredObjectWriter {
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
