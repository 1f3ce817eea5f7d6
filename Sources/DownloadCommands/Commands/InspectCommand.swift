internal import ArgumentParser
internal import DownloadStore
internal import ObjectStore

/// `dlstore inspect`: one record with everything that is known of it.
struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows everything about one download.",
    discussion: """
      Its fields, its files as they are now, its resume data, its failed attempts, and what the \
      next reconciliation does about it and by which rule, if no transfer runs. User info, \
      signatures, tokens, Authorization and Cookie are shown as \(Redaction.mark).
      """
  )

  @OptionGroup var location: StoreLocation

  @Argument(help: ArgumentHelp("The URL, the id, or its beginning.", valueName: "url|id"))
  var name: String

  @Flag(help: "One JSON object.")
  var json = false

  @Flag(help: "Show secrets as they are.")
  var revealSecrets = false

  func run() async throws {
    let store = try DownloadStore(at: location.resolved(), access: .readOnly)
    let record = try store.record(named: name)
    let entry = DownloadEntry(record, try store.roots())
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
