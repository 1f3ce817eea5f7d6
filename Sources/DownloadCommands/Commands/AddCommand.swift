internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore

/// `dlstore add`: stores downloads without starting them.
struct AddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Stores downloads without starting them.",
    discussion: """
      Prints one line per download: its id, 'new' or 'known', and its file name, and says on standard \
      error where the files will be. Adding a known URL keeps the bytes already on disk and resumes \
      the download if it was paused or had failed; its state and what was applied are printed. \
      Invalid lines of an input file are reported and skipped; the others are stored, and the exit \
      code is 1. An input file is read and stored in batches: a printed download is stored, also \
      if the command is stopped later, and repeating the command adds the rest.

      EXAMPLES:
        dlstore add https://example.com/model.bin --tag models
        dlstore add --input-file urls.txt --folder mirror --paused
        dlstore add --metalink https://example.com/release.meta4
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var what: RequestOptions
  @OptionGroup var transfer: TransferOptions
  @OptionGroup var client: ClientOptions

  @OptionGroup var messages: QuietOption

  @Flag(help: "Add the downloads paused: they start when resumed.")
  var paused = false

  @OptionGroup var preview: DryRunOption

  @Option(
    help: ArgumentHelp(
      "Copy the bytes of a file that aria2 (with its control file FILE.aria2), curl or wget has begun; "
        + "only with one URL.",
      valueName: "file"
    ),
    completion: .file()
  )
  var adopt: String?

  func validate() throws {
    guard !what.writesOutput else {
      throw ValidationError("'add' downloads nothing: only 'get' writes to standard output, -o -.")
    }
    guard adopt == nil || !preview.dryRun else {
      throw ValidationError("--adopt and --dry-run cannot be combined.")
    }
    guard adopt == nil || what.urls.count == 1 && what.inputFile == nil && what.metalink == nil
    else { throw ValidationError("--adopt requires exactly one URL.") }
    // Both promise that a file of the name stays, and the adopted one may be that file.
    guard adopt == nil || ![.keep, .fail].contains(what.ifExists) else {
      throw ValidationError(
        "--adopt and --if-exists \(what.ifExists.rawValue) cannot be combined."
      )
    }
  }

  func run() async throws {
    if preview.dryRun { try client.requireProxyOfEnvironment("a request") }
    var source = try await RequestSource(what, client)
    if preview.dryRun {
      let transport = try client.makeTransport(connectionsPerHost: 16)
      return try await DryRunOption.report(of: &source, transport, isQuiet: messages.quiet)
    }
    let partial = try adopt.map { try ForeignPartial(ofFileAt: $0) }
    let path = location.resolved()
    if let partial {
      let store = try Self.store(at: path)
      try requireFileName(in: store)
      var requests = try source.nextBatch()
      transfer.apply(to: &requests)
      try setRoot(of: &requests, in: store)
      requests[0].isPaused = paused
      return try take(partial, for: requests[0], in: store)
    }
    try addAll(of: &source, toStoreAt: path).compact(
      storeAt: path,
      command: SuggestedCommand.text("compact")
    )
    if !source.isComplete { throw CommandFailure(.failed) }
  }

  /// Opens the store; for a client of `dlstore serve` it refuses hidden folders.
  private static func store(at path: String) throws -> RecordStore {
    let store = try RecordStore(at: path)
    return RemoteExecution.isRunning ? store.refusingHiddenFolders() : store
  }

  /// The folder of `-o` with an absolute path, which is made if it is missing.
  private var folder: String? {
    get throws { try what.outputRoot.map { try Folder.made(at: $0) } }
  }

  /// Refuses a path of `-o` that is a folder.
  private func requireFileName(in store: RecordStore) throws {
    try what.requireRegularFile(below: store.roots().path(of: RootName.standard))
  }

  private func setRoot(of requests: inout [DownloadRequest], in store: RecordStore) throws {
    guard let root = try folder.map({ try store.root(at: $0) }) else { return }
    for index in requests.indices { requests[index].root = root }
  }

  /// Adds the downloads in batches, and closes the store.
  private func addAll(
    of source: inout RequestSource,
    toStoreAt path: String
  ) throws -> BulkChange {
    let store = try Self.store(at: path)
    try requireFileName(in: store)
    var change = BulkChange()
    var summary = AdditionSummary(storePath: path)
    while case var requests = try source.nextBatch(), !requests.isEmpty {
      transfer.apply(to: &requests)
      if paused { for index in requests.indices { requests[index].isPaused = true } }
      try source.checkPlaces(of: requests, inFolder: try folder, store)
      try setRoot(of: &requests, in: store)
      // On this thread: the allocator keeps a heap for each thread, so that batches on changing
      // threads would need a third more memory.
      let added = try store.addNow(requests)
      try messages.report(added.map(\.line).joined())
      for message in added.flatMap(\.messages) { messages.say(message) }
      let replaced = try ReplacedDownloads(of: added, requests, in: store)
      change.objectCount += added.count
      let roots = try store.roots()
      for message in added.compactMap({ replaced.message(of: $0.record, roots) }) {
        messages.say(message)
      }
      summary.note(added.filter { !replaced.contains($0.record) }, roots)
    }
    try source.requireAny(change.objectCount)
    for message in summary.messages { messages.say(message) }
    return change
  }

  /// Adds a download with the bytes that another program has received.
  private func take(
    _ partial: ForeignPartial,
    for request: DownloadRequest,
    in store: RecordStore
  ) throws {
    let added = try store.add(request, adopting: partial)
    try messages.report(added.line)
    let copied = partial.byteCount.map { "\(partial.ranges.byteCount) of \($0)" }
    let layout = try store.roots().layout(of: added.record)
    let fate =
      added.record.continuedPath(in: layout) == nil
      ? "\(partial.controlPath ?? partial.path) is not needed any more"
      : "\(partial.path) stays until a file that begins with its bytes is complete; another one gets the "
        + "name '\(added.record.filename)'"
    messages.say("copied \(copied ?? "the first \(partial.ranges.byteCount)") bytes; \(fate)")
    guard added.record.expectedDigest == nil else { return }
    messages.say(
      "without --checksum the download continues only with --continue-unvalidated, because "
        + "\(partial.controlPath == nil ? "curl and wget store" : "aria2 stores") no entity tag; otherwise "
        + "it starts from the first byte"
    )
  }
}
