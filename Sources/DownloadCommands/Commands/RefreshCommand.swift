internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// `dlstore refresh`: downloads newer versions of finished files.
struct RefreshCommand: EngineCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "Asks servers for newer versions of finished files, and downloads them.",
    discussion: """
      Sends what the server said about the file (ETag, Last-Modified), so a server without a newer \
      version sends no file. The finished file keeps its name until the newer one is complete, and is \
      replaced in one step; a failed or cancelled refresh leaves it. A file that is missing is \
      downloaded again. A file that was changed stays, and the new one gets another name. Prints the \
      files that were replaced, the failures, and the counts. The exit code is 1 if a server could not \
      say, or if a download that was given by name cannot be refreshed. 'get --refresh' also downloads what is \
      not complete yet.

      EXAMPLES:
        dlstore refresh --all
        dlstore refresh --tag nightly --dry-run
        dlstore refresh --tag nightly --checksum-file https://example.com/SHA256SUMS
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets
  @OptionGroup var limits: EngineLimits
  @OptionGroup var display: DisplayOptions
  @OptionGroup var hooks: HookOptions

  @Option(
    name: .customLong("checksum-file"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Require the digests of a file such as SHA256SUMS, by file name, of the current versions; a URL "
        + "is fetched; repeatable.",
      valueName: "file|url"
    ),
    completion: .file()
  )
  var checksumFiles: [String] = []

  @Option(
    help: VersionCount.help,
    transform: VersionCount.parse
  )
  var keepVersions: Int32?

  @Flag(help: "Only ask the servers, and print what would be downloaded; changes nothing.")
  var dryRun = false

  @Flag(
    help: "If another engine runs on the store, exit with 75 instead of waiting for its downloads."
  )
  var noWait = false

  func validate() throws {
    try targets.requireAny()
    for file in checksumFiles where !MetalinkSource.isURL(file) {
      try LocalFile.validate(file, "--checksum-file", orURL: true)
    }
    guard !dryRun || checksumFiles.isEmpty else {
      throw ValidationError("--dry-run and --checksum-file cannot be combined.")
    }
    guard !dryRun || keepVersions == nil else {
      throw ValidationError("--dry-run and --keep-versions cannot be combined.")
    }
  }

  func run() async throws {
    try limits.client.checkFiles()
    // A usage error leaves nothing behind.
    _ = try hooks.actions(limits.client)
    let store = try RecordStore(
      at: location.existing(),
      access: dryRun ? .readOnly : .readWrite,
      checksPages: Worker.followsCrash
    )
    guard !dryRun else { return try await preview(store) }
    AwaitedDownloads.warnOfOtherOptions(in: store, limits, hooks, display)
    let (requested, refused) = try requested(in: store, try await checksums())
    let urls = requested.keys.map(\.text).sorted()
    guard !urls.isEmpty else {
      if refused > 0 { throw CommandFailure(.failed) }
      return
    }
    var lost = LostDownloads()
    for record in requested.values { lost.note(record) }
    let awaited = AwaitedDownloads(
      store: store,
      limits: limits,
      display: display,
      hooks: hooks,
      requested: Array(requested.values),
      waits: !noWait
    )
    let end = try await end(of: awaited, Set(requested.keys))
    if let signal = end.signal { throw CommandFailure(signal.status) }
    let records = try store.records(withURLs: urls)
    for message in try lost.messages(in: store) { Output.current.say(message) }
    let isDone = records.allSatisfy { record in
      record.state == .completed && record.refreshFailure == nil
        && !lost.hasCancelledRefresh(record)
    }
    guard isDone, records.count == urls.count, refused == 0, end.failedHooks == 0 else {
      throw CommandFailure(.failed)
    }
  }

  /// Runs the downloads, or waits for the engine of another process that does.
  private func end(
    of awaited: AwaitedDownloads,
    _ urls: Set<StoredText>
  ) async throws -> EngineSetup.End {
    do {
      return try await awaited.run(urls).0
    } catch let error as EngineError where error.code == .alreadyRunning {
      throw CommandFailure(
        .engineRuns,
        "\(error.message); it carries out the refresh: 'refresh' without --no-wait waits for it"
      )
    }
  }

  /// Reads and fetches the checksum files; without effect in a worker that follows a crashed one.
  private func checksums() async throws -> ChecksumFile {
    var checksums = ChecksumFile()
    guard Worker.current?.isRestarted != true else { return checksums }
    for place in checksumFiles {
      let longest = RequestDetails.longestFile
      if MetalinkSource.isURL(place) {
        let data = try await DocumentFetch.read(place, upTo: longest, limits.client)
        checksums.merge(try ChecksumFile(data, at: place))
      } else {
        checksums.merge(try ChecksumFile(try RequestDetails.bytes(ofFile: place), at: place))
      }
    }
    return checksums
  }

  /// Returns the selected downloads that can be refreshed, without those of which the checksum files have
  /// different checksums, and the number of these, which are named in messages.
  private func refreshable(
    _ selected: CommandTargets,
    in store: RecordStore,
    with checksums: ChecksumFile
  ) throws -> (targets: CommandTargets, refused: Int) {
    guard !checksums.isEmpty else { return (selected, 0) }
    let outcomes = try store.preview(.refresh, of: selected)
    let names = outcomes.compactMap { outcome -> String? in
      guard let record = outcome.record else { return outcome.name }
      do throws(CommandFailure) {
        _ = try checksums.digest(ofFileAt: record.url, named: record.filename)
        return record.url
      } catch {
        sayNotRefreshed(record, error.message ?? "")
        return nil
      }
    }
    return (.named(names), outcomes.count - names.count)
  }

  private func sayNotRefreshed(_ record: DownloadRecord, _ reason: String) {
    Output.current.say("not refreshed: \(TerminalText.safe(record.filename)): \(reason)")
  }

  /// Requests the refresh, and returns the downloads to wait for by their URLs, and the number of those
  /// that are refused.
  ///
  /// These include the selected ones whose refresh an earlier command has begun. A worker that follows
  /// a crashed one waits for these alone: another request would ask again for those that are complete.
  private func requested(
    in store: RecordStore,
    _ checksums: ChecksumFile
  ) throws -> (records: [StoredText: DownloadRecord], refused: Int) {
    let selected = targets.targets(engineRuns: store.hasEngine)
    var requested = try begun(selected, in: store)
    guard Worker.current?.isRestarted != true else { return (requested, 0) }
    // A refresh that waits for its next attempt goes on now; one that the user has paused does not.
    let waiting: [DownloadState] = [.failedRetryable, .failedPermanent]
    let resumed = requested.values.filter { waiting.contains($0.state) }.map(\.url)
    if !resumed.isEmpty {
      for outcome in try store.apply(.resume(immediately: false), to: .named(resumed)) {
        if let record = outcome.record { requested[StoredText(record.url)] = record }
      }
    }
    let (refreshable, contradicted) = try refreshable(selected, in: store, with: checksums)
    var refused = contradicted
    let outcomes = try store.apply(
      .refresh,
      to: refreshable,
      requiring: { try checksums.digest(ofFileAt: $0.url, named: $0.filename) },
      keepingVersions: keepVersions
    )
    refused += refusals(outcomes)
    for case .done(let record) in outcomes.map(\.effect) {
      requested[StoredText(record.url)] = record
    }
    // Another command may have requested some of them since.
    requested.merge(try begun(selected, in: store)) { known, _ in known }
    if outcomes.isEmpty, requested.isEmpty, refused == 0 {
      try targets.selection.requireKnown(in: store)
      Output.current.say("no finished file to refresh")
      if !targets.all { throw CommandFailure(.failed) }
    }
    return (requested, refused)
  }

  /// Says which downloads are not refreshed and why, and returns the number of those that were named.
  private func refusals(_ outcomes: [CommandOutcome]) -> Int {
    var count = 0
    for outcome in outcomes {
      switch outcome.effect {
      case .done: break
      case .unchanged(let record) where record.refreshed != nil: break
      case .unchanged(let record):
        // Options select also what is not complete yet.
        if !targets.selection.names.isEmpty { count += 1 }
        let command = record.continuingCommand.map { "; \($0) continues it" } ?? ""
        sayNotRefreshed(record, record.refreshObstacle ?? "it is not complete\(command)")
      case .unknown(let error):
        count += 1
        Output.current.say(Advice.message(of: error))
      }
    }
    return count
  }

  /// Returns the selected downloads whose refresh was begun and has not ended, by their URLs.
  private func begun(
    _ targets: CommandTargets,
    in store: RecordStore
  ) throws -> [StoredText: DownloadRecord] {
    let records =
      switch targets {
      case .matching(let condition):
        try store.records(Query(condition && DownloadRecord.columns.refreshed != nil))
      case .named(let names): try store.records(matching: names).compactMap { try? $0.get() }
      }
    let begun = records.filter { $0.refreshed != nil && $0.state != .completed }
    return Dictionary(begun.map { (StoredText($0.url), $0) }) { first, _ in first }
  }

  /// Asks the servers, and prints a line for each file that would be downloaded, and the counts.
  private func preview(_ store: RecordStore) async throws {
    let selected = targets.targets(engineRuns: store.hasEngine)
    let outcomes = try store.preview(.refresh, of: selected)
    let begun = try begun(selected, in: store).values.sorted { $0.url < $1.url }
    let refused = refusals(outcomes)
    if outcomes.isEmpty, begun.isEmpty { try targets.selection.requireKnown(in: store) }
    let roots = try store.roots()
    let previews = try await RefreshPreview.all(
      of: begun + outcomes.filter(\.isDone).compactMap(\.record),
      limits.makeTransport(),
      unplaced: { DownloadFailure(unplaced: $0, in: roots) },
      headers: { try store.headers(of: $0, sentTo: $0.url) }
    )
    var counts: [RefreshPreview: Int] = [:]
    var (gone, failed) = (0, 0)
    for (record, result) in previews {
      let name = TerminalText.safe(record.filename)
      switch result {
      case .success(let preview):
        counts[preview, default: 0] += 1
        if preview != .unchanged { try Output.current.line("\(preview.rawValue) \(name)") }
      case .failure(let failure):
        if failure.code == .notFound { gone += 1 } else { failed += 1 }
        try Output.current.line("failed \(name): \(FailureSentence.reason(failure, record))")
      }
    }
    try Output.current.line(
      "\(previews.count) \(previews.count == 1 ? "file" : "files"): "
        + "\(counts[.newer, default: 0]) have a newer version, "
        + (counts[.missing].map { "\($0) missing or changed here, " } ?? "")
        + "\(counts[.unchanged, default: 0]) unchanged, \(counts[.unknown, default: 0]) unknown, "
        + "\(RefreshSentence.gone(gone))\(failed) failed"
    )
    if gone + failed + refused > 0 { throw CommandFailure(.failed) }
  }
}
