internal import ArgumentParser
internal import DownloadStore
internal import ObjectStore

/// `dlstore set`: changes what is said of a download.
struct SetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Changes a download: its file's name, type, tags, priority or URL.",
    discussion: """
      The file of a complete download is renamed with its record, or neither changes. --url is for \
      a link that has expired: the download keeps its id and what is downloaded, and goes on if it \
      had failed. All options of one command take effect together, or none does.
      """
  )

  @OptionGroup var location: StoreLocation

  @Argument(help: ArgumentHelp("The URL, the id, or its beginning.", valueName: "url|id"))
  var name: String

  @Option(help: ArgumentHelp("The name of the file.", valueName: "name"))
  var filename: String?

  @Option(help: ArgumentHelp("What kind of file it is.", valueName: "type"))
  var type: String?

  @Option(
    name: .customLong("tag"),
    parsing: .singleValue,
    help: ArgumentHelp("A group to add it to; may be repeated.", valueName: "tag")
  )
  var tags: [String] = []

  @Option(
    name: .customLong("untag"),
    parsing: .singleValue,
    help: ArgumentHelp("A group to take it out of; may be repeated.", valueName: "tag")
  )
  var removedTags: [String] = []

  @Option(parsing: .unconditional, help: ArgumentHelp("Higher goes first.", valueName: "n"))
  var priority: Int32?

  @Option(name: .customLong("url"), help: ArgumentHelp("Its new URL.", valueName: "url"))
  var newURL: String?

  func validate() throws {
    guard update != RecordUpdate() else {
      throw ValidationError(
        "Nothing to change: give --filename, --type, --tag, --untag, --priority or --url."
      )
    }
    if let filename, !FileName.isPlain(filename) {
      throw ValidationError("--filename takes a name, not '\(filename)'.")
    }
    if let newURL {
      do {
        try RecordIdentity.validate(newURL)
      } catch {
        throw ValidationError(error.message)
      }
    }
  }

  func run() async throws {
    let store = try DownloadStore(at: location.resolved(), access: .readWrite)
    let outcome = try store.update(name, update)
    if newURL != nil, let record = outcome.record { try sayWithheld(from: record, in: store) }
    try Output.current.report(WishReport(verb: "changed", outcomes: [outcome]).text)
  }

  /// Says which header fields the new URL does not get.
  private func sayWithheld(from record: DownloadRecord, in store: DownloadStore) throws {
    let sent = Set(try store.headers(of: record, sentTo: record.url))
    let names = try store.headers(of: record).filter { !sent.contains($0) }.map(\.name)
    guard !names.isEmpty else { return }
    Output.current.say(
      "not sent to another host, port or scheme: \(names.joined(separator: ", ")); "
        + "`dlstore add` with the new URL and --header gives it its own"
    )
  }

  private var update: RecordUpdate {
    var update = RecordUpdate()
    update.filename = filename
    update.type = type
    update.addedTags = Set(tags)
    update.removedTags = Set(removedTags)
    update.priority = priority
    update.url = newURL
    return update
  }
}
