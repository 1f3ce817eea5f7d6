internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import ObjectStore

/// `dlstore inspect`: shows one record in full.
struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows everything about one download.",
    discussion: """
      Shows the record, its files on disk, its resume data, its failed attempts, and what the next \
      reconciliation would do and by which rule, assuming that no transfer runs. User info, \
      signatures, tokens and header fields such as Authorization and Cookie are shown as \
      \(Redaction.mark).

      EXAMPLES:
        dlstore inspect 8c2b47
        dlstore inspect https://example.com/model.bin --json
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @Argument(
    help: ArgumentHelp("A URL, an id, or an id prefix.", valueName: "url|id"),
    completion: StoreCompletion.downloads
  )
  var name: String

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Show secrets unredacted.")
  var revealSecrets = false

  func run() async throws {
    let store = try location.openedForReading(reading)
    let record = try store.record(matching: name)
    let entry = DownloadEntry(record, try store.roots(), engineRuns: store.hasEngine)
    let headers = try store.headers(of: record)
    if json {
      let value = RecordJSON.inspection(
        of: entry,
        headers: headers,
        revealsSecrets: revealSecrets
      )
      try Output.current.line(value.prettyText)
    } else {
      let lines = InspectionText.lines(
        of: entry,
        headers: headers,
        revealsSecrets: revealSecrets
      )
      try Output.current.line(lines.joined(separator: "\n"))
    }
  }
}
