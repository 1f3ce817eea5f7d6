internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// `dlstore list`: lists records as a table, JSON or CSV.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists downloads.",
    discussion: """
      Reads only: it never creates a store, and works while another process downloads. Times are \
      ISO 8601 in UTC with milliseconds. Sizes are in bytes, except in tables. 'json' prints one \
      array, 'jsonl' one object per line, 'csv' a header line and one line per download.

      EXAMPLES:
        dlstore list --state waiting,running --watch
        dlstore list --tag models --sort received:desc --limit 20 --format json
        dlstore list --state failed -q
      """,
    aliases: ["ls", "status"]
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption
  @OptionGroup var selection: SelectionOptions

  @Option(
    name: .customLong("sort"),
    help: ArgumentHelp(
      "Sort by a field of the JSON record; records without a value come last.",
      valueName: "field[:desc]"
    ),
    completion: .list(ListOrder.Field.allCases.map(\.rawValue)),
    transform: { text in
      guard let order = ListOrder(text) else {
        let fields = ListOrder.names.joined(separator: " ")
        let suggestion = ListOrder.suggestion(for: text)
        throw ValidationError(
          "'\(text)' is not a sort order. The fields are: \(fields).\(suggestion)"
        )
      }
      return order
    }
  )
  var order: ListOrder?

  @Option(
    help: ArgumentHelp("List at most this many, from 0.", valueName: "n"),
    transform: { try WholeNumber.parse($0, from: 0) }
  )
  var limit: Int?

  @OptionGroup var display: ListOptions

  @Flag(help: "Keep running and show the list again after each change. Stop with Ctrl-C.")
  var watch = false

  func run() async throws {
    let store = try location.openedForReading(reading)
    let found = try selection.found(in: store, engineRuns: store.hasEngine)
    if watch {
      try await ListWatch(list: self, store: store, names: found.names).run()
    } else {
      try show(store, found.names)
    }
    try found.report()
  }

  /// Writes the list as it is read.
  func show(_ store: RecordStore, _ names: Filter<DownloadRecord>?) throws {
    try listing(names, engineRuns: store.hasEngine).read(store) { entries in try show(entries) }
  }

  /// Writes downloads.
  func show(_ entries: EntryStream) throws {
    let style = TerminalStyle(of: .output, color: display.color.color)
    try display.output.render(entries, style: style, to: Output.current.write)
  }

  /// Returns the downloads to list.
  ///
  /// - Parameters:
  ///   - names: The condition for the downloads that are given by name; `nil` if none is.
  ///   - engineRuns: Whether an engine runs on the store.
  /// - Returns: The list.
  func listing(_ names: Filter<DownloadRecord>?, engineRuns: Bool) -> RecordListing {
    RecordListing(
      condition: names ?? selection.condition(engineRuns: engineRuns),
      order: order,
      limit: limit,
      engineRuns: engineRuns
    )
  }
}
