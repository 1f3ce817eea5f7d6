internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// `dlstore inspect`: shows one record in full.
struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows everything about downloads.",
    discussion: """
      Shows the record, its files on disk, its resume data, its failed attempts, and what the next \
      reconciliation would do and by which rule, assuming that no transfer runs. User info, \
      signatures, tokens and header fields such as Authorization and Cookie are shown as \
      \(Redaction.mark).

      EXAMPLES:
        dlstore inspect 8c2b47
        dlstore inspect https://example.com/model.bin --json
        dlstore inspect --state failed
      """,
    aliases: ["show"]
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @OptionGroup var selection: SelectionOptions

  @Flag(help: "Print a JSON object, or an array of them unless one name is given.")
  var json = false

  @Flag(name: .shortAndLong, help: "Also show the rules by which the engine decides.")
  var verbose = false

  @Flag(help: "Show secrets unredacted.")
  var revealSecrets = false

  func validate() throws {
    guard !selection.isEmpty else {
      throw ValidationError(
        "No download specified: pass a URL, an id or a file name, or options such as --state."
      )
    }
  }

  func run() async throws {
    let store = try location.openedForReading(reading)
    let engineRuns = store.hasEngine
    if selection.names.count == 1 {
      let record = try store.record(matching: selection.names[0])
      return try Output.current.line(text(of: record, store, try store.roots(), engineRuns))
    }
    let found = try selection.found(in: store, engineRuns: engineRuns)
    let roots = try store.roots()
    var isFirst = true
    for url in try urls(found.condition, in: store) {
      // Another process may have removed it.
      guard let record = try? store.record(matching: url) else { continue }
      if json {
        try Output.current.write(isFirst ? "[\n" : ",\n")
      } else if !isFirst {
        try Output.current.line("")
      }
      let text = try text(of: record, store, roots, engineRuns)
      try json ? Output.current.write(text) : Output.current.line(text)
      isFirst = false
    }
    if json { try Output.current.line(isFirst ? "[]" : "\n]") }
    try found.report()
    guard isFirst, !json else { return }
    throw CommandFailure(.failed, "\(selection.none) exists")
  }

  private func urls(
    _ condition: Filter<DownloadRecord>,
    in store: RecordStore
  ) throws -> [String] {
    try store.objects.read { tx in try tx.fetch(Query(condition)) { view in try view.url } }
  }

  /// Describes a download, without a line end.
  private func text(
    of record: DownloadRecord,
    _ store: RecordStore,
    _ roots: Roots,
    _ engineRuns: Bool
  ) throws -> String {
    let entry = DownloadEntry(record, roots, engineRuns: engineRuns)
    let headers = try store.headers(of: record)
    guard json else {
      return InspectionText.lines(
        of: entry,
        headers: headers,
        revealsSecrets: revealSecrets,
        isVerbose: verbose
      )
      .joined(separator: "\n")
    }
    return RecordJSON.inspection(of: entry, headers: headers, revealsSecrets: revealSecrets)
      .prettyText
  }
}
