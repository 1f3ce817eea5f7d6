internal import ArgumentParser
internal import DownloadStore
internal import ObjectStore

/// `dlstore list`: the records, in a form for people or for programs.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists downloads.",
    discussion: """
      Only reads: it never makes a store, and works while another process downloads. Times are \
      ISO 8601 in UTC with milliseconds, sizes are in bytes but for those in tables. 'json' is one \
      array, 'jsonl' one object a line, 'csv' one line a download after a line of titles.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var filter: RecordFilter

  @Option(
    name: .customLong("match"),
    help: ArgumentHelp(
      "Only those whose URL or file name fits the pattern: * ? [a-z] [!a-z].",
      valueName: "glob"
    )
  )
  var pattern: String?

  @Option(help: ArgumentHelp("Only those of that type.", valueName: "type"))
  var type: String?

  @Option(
    name: .customLong("sort"),
    help: ArgumentHelp(
      "Order by a field of the JSON record; those without a value come last.",
      valueName: "field[:desc]"
    ),
    transform: { text in
      guard let order = ListOrder(text) else {
        let fields = ListOrder.Field.allCases.map(\.rawValue).joined(separator: " ")
        throw ValidationError("'\(text)' is no order. Fields are: \(fields)")
      }
      return order
    }
  )
  var order: ListOrder?

  @Option(help: ArgumentHelp("At most so many.", valueName: "n"))
  var limit: Int?

  @Option(help: "table, json, jsonl or csv.")
  var format = OutputFormat.table

  @Flag(help: "Go on, and show the list again whenever the store changes. Ctrl-C ends it.")
  var watch = false

  func validate() throws {
    guard (limit ?? 0) >= 0 else { throw ValidationError("--limit needs a number from 0 on.") }
  }

  func run() async throws {
    let store = try DownloadStore(at: location.resolved(), access: .readOnly)
    guard watch else {
      let output = Output.current
      try format.render(try entries(in: store), width: Terminal.output.width, to: output.write)
      return
    }
    try await ListWatch(list: self, store: store).run()
  }

  /// What is to be listed, as it is now.
  func entries(in store: DownloadStore) throws -> [DownloadEntry] {
    var query = Query(predicate)
    if order == nil { query.limit = limit }
    let roots = try store.roots()
    let entries = try store.records(query).map { DownloadEntry($0, roots) }
    guard let order else { return entries }
    return Array(order.sorted(entries).prefix(limit ?? .max))
  }

  private var predicate: Predicate<DownloadRecord> {
    var predicate = filter.predicate
    let columns = DownloadRecord.columns
    if let type { predicate = predicate && columns.type == type }
    if let pattern {
      let glob = GlobPattern(pattern)
      let fits: @Sendable (String) -> Bool = { glob.matches($0) }
      predicate = predicate && (columns.url.satisfies(fits) || columns.filename.satisfies(fits))
    }
    return predicate
  }
}
