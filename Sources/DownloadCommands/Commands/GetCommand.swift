internal import ArgumentParser
internal import CommandLineSupport
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
      Files go into the current folder unless --output-folder is given; a known URL keeps its \
      folder, and another one is refused. The exit code is 0 only if every download is complete, \
      and 69 if no server could be reached; if a part of several downloads is complete, it is 1. If another engine runs on the store, such \
      as that of another 'get', it runs these downloads, too: 'get' shows their progress, and goes \
      on by itself when that engine ends first. Ctrl-C stops with 130 and SIGTERM with 143: the bytes on disk are kept, and the same \
      command resumes the download. A second Ctrl-C or SIGTERM exits immediately.

      EXAMPLES:
        dlstore get https://example.com/a.iso -o a.iso
        dlstore get https://example.com/a.iso --mirror https://example.org/a.iso
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

  func validate() throws {
    guard what.place?.root == nil || outputFolder == nil else {
      throw ValidationError("-o with an absolute path and --output-folder cannot be combined.")
    }
    // A restarted worker reads the files again. Standard input is kept for it.
    for (option, file) in what.files where file != "-" {
      let attributes = try? FileManager.default.attributesOfItem(
        atPath: URL(filePath: file).resolvingSymlinksInPath().path
      )
      let isRegular = attributes?[.type].map { $0 as? FileAttributeType == .typeRegular }
      guard isRegular != false else {
        throw ValidationError(
          "'get' reads \(option) from a regular file, or from standard input with '-'."
        )
      }
    }
  }

  /// Whether a list is read from standard input.
  var readsInput: Bool { what.files.contains { $0.path == "-" } }

  func run() async throws {
    if readsInput { SpooledInput.rewind() }
    var source = try await RequestSource(what, limits.client)
    let givenFolder = what.place?.root ?? outputFolder
    let folder = try Folder.made(at: givenFolder ?? ".")
    try Folder.requireWritable(folder)
    let store = try RecordStore(at: location.resolved(), checksPages: Worker.followsCrash)
    var urls: Set<String> = []
    var complete: Set<String> = []
    while case var requests = try source.nextBatch(), !requests.isEmpty {
      transfer.apply(to: &requests)
      urls.formUnion(requests.map(\.url))
      if Worker.current?.isRestarted != true {
        try source.checkPlaces(of: requests, inFolder: givenFolder == nil ? nil : folder, store)
      }
      complete.formUnion(try add(requests, folder, to: store))
    }
    let end = try await download(urls, complete: complete, in: store)
    if let signal = end.signal { throw CommandFailure(signal.status) }
    let records = try records(urls.sorted(), in: store)
    for record in records where record.state == .paused {
      Output.current.say(
        "\(record.filename) was paused by another command; 'dlstore resume \(record.id)' continues it"
      )
    }
    // A record that was removed in the meantime was not downloaded.
    let status = records.count == urls.count ? Self.status(of: records) : .failed
    guard status == .done, source.isComplete, end.failedHooks == 0 else {
      throw CommandFailure(status == .done ? .failed : status)
    }
  }

  /// Runs an engine for the downloads, or waits for the engine of another process.
  ///
  /// - Parameters:
  ///   - urls: The URLs of the downloads.
  ///   - complete: Those that were already complete.
  ///   - store: The store.
  /// - Returns: How the run ended.
  /// - Throws: ``CommandFailure`` with `engineRuns`; ``EngineError``; `StoreError`; ``ClosedPipe``.
  private func download(
    _ urls: Set<String>,
    complete: Set<String>,
    in store: RecordStore
  ) async throws -> EngineSession.End {
    // Until this process has an engine, that of another 'get' runs the downloads.
    let waiting =
      noWait || needsOwnEngine
      ? nil
      : try WaiterRegistration(
        of: records(urls.sorted(), in: store).map(\.id),
        storePath: store.path
      )
    defer { withExtendedLifetime(waiting) {} }
    var isAnnounced = false
    while true {
      do {
        let session = try EngineSession(
          store: store,
          limits: limits,
          display: display,
          hooks: hooks,
          scope: urls,
          isAwaited: true
        )
        return try await session.run(until: .finished(.matching(urls.sorted())))
      } catch let error as EngineError where error.code == .alreadyRunning {
        guard !noWait else {
          throw CommandFailure(
            .engineRuns,
            "\(error.message); the download is stored: 'dlstore get' without --no-wait waits for it"
          )
        }
        if !isAnnounced, !display.quiet {
          Output.current.say(
            "\(error.message); waiting for it (Ctrl-C ends only the waiting, --no-wait does not wait)"
          )
        }
        isAnnounced = true
      }
      let session = FollowSession(
        store: store,
        urls: urls.sorted(),
        display: display,
        complete: complete
      )
      switch try await session.run() {
      case .ended: return EngineSession.End(summary: RunSummary(), signal: nil)
      case .stopped(let signal):
        if !display.quiet { Output.current.say("stopped waiting; the other engine goes on") }
        return EngineSession.End(summary: RunSummary(), signal: signal)
      case .engineEnded: break
      }
    }
  }

  /// Whether the engine of another process cannot do what the options of this one require: run its
  /// commands, or use its proxy or certificates.
  private var needsOwnEngine: Bool {
    let connection = limits.client.connection
    let isOwnConnection = [
      connection.proxy, connection.caCertificate, connection.clientCertificate,
    ]
    .contains { $0 != nil }
    return isOwnConnection || hooks.urlCommand != nil || !hooks.commands.isEmpty
  }

  /// Adds the downloads, and returns the URLs of those that are already complete.
  private func add(
    _ requests: [DownloadRequest],
    _ folder: String,
    to store: RecordStore
  ) throws -> Set<String> {
    var requests = requests
    if Worker.current?.isRestarted == true {
      // Adding a known download clears its failures: a server that crashes the process would be
      // tried forever.
      let known = Set(try records(requests.map(\.url), in: store).map(\.url))
      requests.removeAll { known.contains($0.url) }
    }
    guard !requests.isEmpty else { return [] }
    let root = try store.root(at: folder)
    for index in requests.indices {
      requests[index].root = root
      // 'get' runs every download, also one that an input file pauses.
      requests[index].isPaused = false
    }
    let roots = try store.roots()
    var complete: Set<String> = []
    for added in try store.addNow(requests) {
      if let message = added.message, !display.quiet { Output.current.say(message) }
      guard added.record.state == .completed else { continue }
      complete.insert(added.record.url)
      guard !display.quiet else { continue }
      let place = DownloadEntry(added.record, roots).localPath ?? added.record.filename
      Output.current.say("already complete: \(place)")
    }
    return complete
  }

  private func records(_ urls: [String], in store: RecordStore) throws -> [DownloadRecord] {
    try store.objects.read { tx in try tx.find(DownloadRecord.self, keys: urls).compactMap { $0 } }
  }

  /// The exit status for the records that were asked for.
  static func status(of records: [DownloadRecord]) -> ExitStatus {
    let missing = records.filter { $0.state != .completed }
    guard !missing.isEmpty else { return .done }
    // A script repeats the whole command later after 69, and looks at the failures after 1.
    let isUnreachable =
      missing.count == records.count
      && missing.allSatisfy { record in
        guard record.state == .failedPermanent, let last = record.attempts.last else {
          return false
        }
        return ExitStatus(last.failure.code) == .unreachable
      }
    return isUnreachable ? .unreachable : .failed
  }
}
