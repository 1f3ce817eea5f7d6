internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// `dlstore get`: adds downloads and runs an engine until they have ended.
struct GetCommand: EngineCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Downloads URLs and exits when they have ended.",
    discussion: """
      The files of new URLs go into the current folder unless --output-folder is given. A known URL \
      keeps its folder, which is named, and another --output-folder is refused. A known URL whose file \
      is complete is not downloaded again, and the server is not asked, unless --if-exists replace is \
      given or its time of --refresh-every has come. The exit code is 0 only if every download is complete, \
      and 69 if no server could be reached; if a part of several downloads is complete, it is 1. \
      -o - writes the file to standard output while it arrives; the file on disk is then temporary, \
      unless --output-folder is given. If another engine runs on the store, such \
      as that of another 'get', it runs these downloads, too: 'get' shows their progress, and says \
      that it continues them when that engine ends first. Ctrl-C stops with 130 and SIGTERM with 143: the bytes on disk are kept, and the same \
      command resumes the download. A second Ctrl-C or SIGTERM exits immediately.

      EXAMPLES:
        dlstore get https://example.com/a.iso -o a.iso
        dlstore get https://example.com/layer.tar.gz -o -
        dlstore get --dry-run https://example.com/a.iso
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var what: RequestOptions
  @OptionGroup var transfer: TransferOptions
  @OptionGroup var limits: EngineLimits
  @OptionGroup var display: DisplayOptions
  @OptionGroup var hooks: HookOptions

  @Option(
    name: [.customLong("output-folder"), .customLong("dir")],
    help: ArgumentHelp("The folder for the files; created if missing.", valueName: "folder"),
    completion: .directory
  )
  var outputFolder: String?

  @Flag(
    help: "If another engine runs on the store, exit with 75 instead of waiting for its downloads."
  )
  var noWait = false

  @OptionGroup var preview: DryRunOption

  @Flag(help: "Ask the servers of finished files for newer versions, as 'refresh' does.")
  var refresh = false

  func validate() throws {
    guard outputFolder?.isEmpty != true else {
      throw ValidationError("--output-folder requires the path of a folder.")
    }
    guard what.outputRoot == nil || outputFolder == nil else {
      throw ValidationError("-o with an absolute path and --output-folder cannot be combined.")
    }
    guard !what.writesOutput || !display.jsonEvents else {
      throw ValidationError(
        "-o - and --json-events cannot be combined: both print to standard output."
      )
    }
    guard !preview.dryRun || !display.jsonEvents else {
      throw ValidationError("--dry-run and --json-events cannot be combined.")
    }
    // A restarted worker reads the files again. Standard input is kept for it.
    for (option, file) in what.files where file != "-" {
      let attributes = try? FileManager.default.attributesOfItem(
        atPath: URL(filePath: file).resolvingSymlinksInPath().path
      )
      let type = attributes?[.type] as? FileAttributeType
      guard type != .typeDirectory else {
        throw ValidationError("\(option): '\(file)' is a folder, not a file.")
      }
      guard type == nil || type == .typeRegular else {
        throw ValidationError(
          "'get' reads \(option) from a regular file, or from standard input with '-'."
        )
      }
    }
  }

  /// Whether a list is read from standard input.
  var readsInput: Bool { what.files.contains { $0.path == "-" } }

  func run() async throws {
    try limits.client.checkFiles()
    // A usage error leaves nothing behind.
    _ = try hooks.actions(limits.client)
    if readsInput { SpooledInput.rewind() }
    var source = try await RequestSource(what, limits.client)
    if preview.dryRun {
      let transport = try limits.makeTransport()
      return try await DryRunOption.report(
        of: &source,
        transport,
        upTo: limits.maximumFileSize,
        isQuiet: display.quiet
      )
    }
    let givenFolder = what.outputRoot ?? outputFolder
    let isPiped = what.writesOutput
    // Before the folder: /dev cannot be written to.
    try what.requireRegularFile(below: givenFolder ?? ".")
    let folder = try isPiped && givenFolder == nil ? nil : Folder.made(at: givenFolder ?? ".")
    if let folder { try Folder.requireWritable(folder) }
    let store = try RecordStore(at: location.resolved(), checksPages: Worker.followsCrash)
    AwaitedDownloads.warnOfOtherOptions(in: store, limits, hooks, display)
    var piped: PipedDownload?
    var urls: Set<StoredText> = []
    var complete: Set<StoredText> = []
    var lost = LostDownloads()
    var known = KnownDownloads()
    var late = LateDownloads()
    while case var requests = try source.nextBatch(), !requests.isEmpty {
      transfer.apply(to: &requests)
      if isPiped { piped = try PipedDownload(requests[0].key ?? requests[0].url, in: store) }
      if Worker.current?.isRestarted != true {
        try source.checkPlaces(of: requests, inFolder: givenFolder == nil ? nil : folder, store)
      }
      for record in try add(requests, folder, to: store, &known) {
        urls.insert(StoredText(record.url))
        lost.note(record)
        late.note(record)
        if record.state == .completed { complete.insert(StoredText(record.url)) }
      }
    }
    try source.requireAny(urls.count)
    if !display.quiet {
      known.report(of: urls.count)
      if Worker.current?.isRestarted != true { late.report() }
    }
    if Worker.current?.isRestarted == true {
      // The previous worker has reported these ends.
      let known = try store.records(withURLs: urls.map(\.text))
      complete.formUnion(known.filter(\.needsCommand).map { StoredText($0.url) })
    }
    let (end, isWritten) = try await download(
      urls,
      ended: complete,
      in: store,
      piped,
      missingCredentials: source.missingCredentials
    )
    if let signal = end.signal { throw CommandFailure(signal.status) }
    let records = try store.records(withURLs: urls.map(\.text).sorted())
    for message in try lost.messages(in: store) { Output.current.say(message) }
    // A record that was removed in the meantime was not downloaded.
    let status =
      records.count == urls.count ? Self.status(of: records, checksFiles: refresh) : .failed
    if !display.quiet, let skipped = source.skippedText { Output.current.say(skipped) }
    guard status == .done, isWritten, source.isComplete, end.failedHooks == 0,
      !known.haveUnreachable, !(refresh && records.contains(where: lost.hasCancelledRefresh))
    else {
      throw CommandFailure(status == .done ? .failed : status)
    }
    try piped?.removeFile()
  }

  /// Runs the downloads, or waits for the engine of another process that does.
  ///
  /// - Parameters:
  ///   - urls: The URLs of the downloads.
  ///   - ended: Those that had already ended.
  ///   - store: The store.
  ///   - piped: The download whose bytes go to standard output; `nil` for none.
  ///   - missingCredentials: Says which of the given files have no credentials for a URL.
  /// - Returns: How the run ended, and whether its bytes were written.
  /// - Throws: ``CommandFailure`` with `engineRuns`; ``EngineError``; `StoreError`; ``ClosedPipe``.
  private func download(
    _ urls: Set<StoredText>,
    ended: Set<StoredText>,
    in store: RecordStore,
    _ piped: PipedDownload?,
    missingCredentials: @escaping @Sendable (String) -> String?
  ) async throws -> (EngineSetup.End, isWritten: Bool) {
    var display = display
    // The reader of the pipe may write to the same terminal, and erasing bars would erase its lines.
    if piped != nil { display.noProgress = true }
    let awaited = AwaitedDownloads(
      store: store,
      limits: limits,
      display: display,
      hooks: hooks,
      waits: !noWait,
      missingCredentials: missingCredentials
    )
    do {
      return try await awaited.run(urls, ended: ended, piped)
    } catch let error as EngineError where error.code == .alreadyRunning {
      throw CommandFailure(
        .engineRuns,
        "\(error.message); the download is stored: 'get' without --no-wait waits for it"
      )
    }
  }

  /// Adds the downloads, notes those whose files the store has, and returns their records.
  private func add(
    _ given: [DownloadRequest],
    _ folder: String?,
    to store: RecordStore,
    _ known: inout KnownDownloads
  ) throws -> [DownloadRecord] {
    var requests = given
    var records: [DownloadRecord] = []
    if Worker.current?.isRestarted == true {
      // Adding a known download clears its failures: a server that crashes the process would be
      // tried forever.
      let known = try store.records(of: given)
      records = known.compactMap { $0 }
      requests = zip(given, known).filter { $0.1 == nil }.map(\.0)
    }
    guard !requests.isEmpty else { return records }
    let root = try folder.map { try store.root(at: $0) } ?? RootName.temporary
    for index in requests.indices {
      requests[index].root = root
      // 'get' runs every download, also one that an input file pauses.
      requests[index].isPaused = false
    }
    let digests = refresh ? try RefreshDigests(takenFrom: &requests, in: store) : nil
    let added = try store.addNow(requests)
    let restarted = try ReplacedDownloads(of: added, requests, in: store)
    let roots = try store.roots()
    for added in added {
      let isRestarted = restarted.contains(added.record)
      let renewed =
        isRestarted
        ? try store.records(withURLs: [added.record.url]).first
        : try (digests ?? scheduled(added.record))?.refreshed(added.record, in: store)
      records.append(renewed ?? added.record)
      let isUnreachable = added.note == .folderUnreachable && renewed == nil
      if isUnreachable { known.noteUnreachable() }
      guard !display.quiet || isUnreachable else { continue }
      for message in added.messages { Output.current.say(message) }
      if let message = restarted.message(of: added.record, roots) { Output.current.say(message) }
      guard !isUnreachable else { continue }
      guard added.record.state == .completed, renewed == nil else {
        let place = folder.flatMap { KnownPlace.stays(added, $0, roots) }
        if let place { Output.current.say(place) }
        continue
      }
      let place = DownloadEntry(added.record, roots).localPath ?? added.record.filename
      guard !added.isNew else {
        // A new record has adopted the file.
        Output.current.say(
          "already complete: \(place); the existing file is kept, and nothing is downloaded"
        )
        continue
      }
      let refresh = SuggestedCommand.text("refresh \(added.record.id)")
      let advice = folder.map { KnownPlace.elsewhere(added.record, $0, roots) } ?? ""
      known.note(
        "already complete: \(place); the server was not asked, \(refresh) asks it\(advice)"
      )
    }
    return records
  }

  /// The checksums for the refresh of a download whose time has come; `nil` if it has not.
  private func scheduled(_ record: DownloadRecord) -> RefreshDigests? {
    record.isRefreshDue(at: Date()) ? RefreshDigests() : nil
  }

  /// The exit status for the records that were asked for.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - checks: Whether finished files were to be compared with those of the servers.
  /// - Returns: The status.
  static func status(of records: [DownloadRecord], checksFiles checks: Bool = false) -> ExitStatus {
    let missing = records.filter { $0.state != .completed || (checks && $0.refreshFailure != nil) }
    guard !missing.isEmpty else { return .done }
    // A script repeats the whole command later after 69, and looks at the failures after 1.
    let isUnreachable =
      missing.count == records.count
      && missing.allSatisfy { record in
        guard record.state == .failedPermanent || record.refreshFailure != nil,
          let last = record.attempts.last
        else { return false }
        // A source that has refused for good will do so again, and was reached.
        return ExitStatus(last.failure.code) == .unreachable
          && !record.countedAttempts.contains { !$0.failure.code.isRetryable }
      }
    return isUnreachable ? .unreachable : .failed
  }
}

/// The known downloads of one command that are complete.
private struct KnownDownloads {
  /// From more on, their number is printed instead of a line for each.
  private static let mostLines = 3
  private var lines: [String] = []
  private var count = 0
  /// Whether the folder of a file cannot be reached, so that nothing is known about the file.
  private(set) var haveUnreachable = false

  /// Notes a download whose folder cannot be reached.
  mutating func noteUnreachable() {
    haveUnreachable = true
  }

  /// Notes a download, with what is said about it.
  mutating func note(_ line: String) {
    count += 1
    if lines.count < Self.mostLines { lines.append(line) }
  }

  /// Says which downloads are complete.
  ///
  /// - Parameter total: The number of downloads of the command.
  func report(of total: Int) {
    guard count > Self.mostLines else {
      for line in lines { Output.current.say(line) }
      return
    }
    Output.current.say(
      "\(count) of \(total) downloads are already complete; the servers were not asked: the same "
        + "command with --refresh asks them"
    )
  }
}

/// The downloads of one command that wait for the time of `--not-before`, as the command does.
private struct LateDownloads {
  /// At most this number of them are named.
  private static let mostNamed = 3
  private var named: [DownloadRecord] = []
  private var count = 0
  private let now = Date()

  /// Notes a download if its time has not come.
  mutating func note(_ record: DownloadRecord) {
    guard record.state == .waiting, !record.startsImmediately, (record.notBefore ?? now) > now
    else { return }
    count += 1
    if named.count < Self.mostNamed { named.append(record) }
  }

  /// Says until when the downloads wait.
  func report() {
    for record in named {
      Output.current.say(
        "\(TerminalText.safe(record.filename)) waits until "
          + "\(record.notBefore.map(Timestamp.text) ?? "") (--not-before); "
          + "\(SuggestedCommand.text("set \(record.id) --not-before none")) starts it now"
      )
    }
    guard count > named.count else { return }
    Output.current.say("\(count - named.count) more downloads wait for their --not-before")
  }
}
