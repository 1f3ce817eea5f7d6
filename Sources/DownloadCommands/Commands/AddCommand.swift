internal import ArgumentParser
internal import DownloadStore

/// `dlstore add`: stores what is to be downloaded, and starts nothing.
struct AddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Stores downloads without starting them.",
    discussion: """
      Prints one line a download: its id, 'new' or 'known', and the name of its file. A URL that \
      is known is not added again: it keeps what is downloaded, and goes on if it stood still. \
      Lines of an input file that cannot be used are reported and left out; the others are stored, \
      and the exit code is 1.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var what: RequestOptions

  @Flag(help: "Store them so that no engine starts them by itself.")
  var paused = false

  func run() async throws {
    var (requests, isComplete) = try what.requests()
    if paused { for index in requests.indices { requests[index].isPaused = true } }
    let store = try DownloadStore(at: location.resolved())
    let added = try store.add(requests)
    let lines = added.map { added in
      let news = added.isNew ? "new  " : "known"
      return "\(added.record.id)  \(news)  \(TerminalText.safe(added.record.filename))\n"
    }
    try Output.current.report(lines.joined())
    if !isComplete { throw CommandFailure(.failed) }
  }
}
