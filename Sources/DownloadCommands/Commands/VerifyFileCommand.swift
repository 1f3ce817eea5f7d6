internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// `dlstore verify-file`: reads finished files, and downloads their damaged pieces again.
struct VerifyFileCommand: EngineCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify-file",
    abstract: "Reads finished files, and finds and repairs damaged pieces.",
    discussion: """
      Compares each piece of a finished file with its digest, which a Metalink document requires or \
      the engine recorded during the download, or else the whole file with the digest of the \
      download. A file of at most 1 MiB has one piece, whose digest is not recorded.

      --repair downloads only the damaged pieces again. Until they have arrived, the damaged file \
      stays. If nothing else is known than that the whole file is damaged, or if the server's file \
      has changed, the whole file is downloaded. A file that is not recognized as the downloaded one, \
      by a correct piece or by its inode and size, is not replaced.

      The exit code is 65 if a file is damaged or missing and was not repaired, 74 if one cannot be \
      read, and 1 if nothing is known about the contents of a file. All files are compared in any case.

      EXAMPLES:
        dlstore verify-file https://example.com/disk.img
        dlstore verify-file 8c2b47 --repair
        dlstore verify-file --tag models
      """
  )

  @OptionGroup var location: StoreLocation

  @OptionGroup var targets: RecordTargets

  @Flag(help: "Download damaged pieces again.")
  var repair = false

  @Flag(help: "Print one JSON object for each file.")
  var json = false

  @OptionGroup var limits: EngineLimits
  @OptionGroup var display: DisplayOptions
  @OptionGroup var hooks: HookOptions

  func validate() throws { try targets.requireAny() }

  func run() async throws {
    if repair {
      try limits.client.checkFiles()
      // A usage error leaves nothing behind.
      _ = try hooks.actions(limits.client)
    }
    let store = try RecordStore(
      at: location.existing(),
      access: repair ? .create : .readOnly,
      checksPages: Worker.followsCrash
    )
    var findings: Set<FileCheck.Finding> = []
    var repaired: Set<StoredText> = []
    var isUnreadable = false
    // A repair is stored at once, and the engine runs after the last file: no file ends the loop.
    var outputFailure: CommandFailure?
    for url in try urls(in: store) {
      guard let record = try store.records(withURLs: [url]).first, record.state != .removed else {
        guard !targets.selection.names.isEmpty else { continue }
        Output.current.say("\(Redaction.url(url)) was removed by another command")
        findings.insert(.unknown)
        continue
      }
      guard record.state == .completed else {
        if repair, record.hasPreviousFile {
          // An earlier repair has ended before it was complete.
          repaired.insert(StoredText(record.url))
        } else {
          Output.current.say(record.incompleteText)
          findings.insert(.unknown)
        }
        continue
      }
      guard let check = try check(record, in: store) else {
        isUnreadable = true
        continue
      }
      do {
        try report(check)
      } catch let failure as CommandFailure where repair {
        outputFailure = failure
      } catch is ClosedPipe where repair {
        // The reader has seen enough.
      }
      let isFaulty = check.finding == .damaged || check.finding == .missing
      if repair, isFaulty, try queue(check, in: store) {
        repaired.insert(StoredText(record.url))
      } else {
        findings.insert(check.finding)
      }
    }
    let urls = repaired.map(\.text).sorted()
    if !urls.isEmpty, try await !download(urls, in: store) { findings.insert(.damaged) }
    if let outputFailure { throw outputFailure }
    if !findings.isDisjoint(with: [.damaged, .missing]) { throw CommandFailure(.damaged) }
    if isUnreadable { throw CommandFailure(.inputOutput) }
    if findings.contains(.unknown) { throw CommandFailure(.failed) }
  }

  /// The URLs of the downloads that were named, or of the completed ones that are selected.
  private func urls(in store: RecordStore) throws -> [String] {
    let selection = targets.selection
    guard selection.names.isEmpty else {
      // Before the first file is read.
      return try store.records(matching: selection.names).map { try $0.get().url }
    }
    let columns = DownloadRecord.columns
    // A file that is to be replaced has its name: a check that left it out would say that all is well.
    let isReadable =
      columns.state == .completed
      || columns.replacedFileIdentity != nil && columns.hasForeignFile == false
    let condition = isReadable && selection.condition(engineRuns: store.hasEngine)
    let urls = try store.objects.read { tx in
      try tx.fetch(Query(condition)) { view in try view.url }
    }
    if urls.isEmpty {
      try selection.requireKnown(in: store)
      Output.current.say("no completed download is selected")
    }
    return urls
  }

  private func report(_ check: FileCheck) throws {
    if json {
      return try Output.current.report(RecordJSON.check(check).text + "\n")
    }
    let path = TerminalText.safe(check.path)
    let damaged = check.damaged.byteCount
    let text =
      switch check.finding {
      case .correct: "\(path): correct"
      case .missing where repair: "\(path): missing"
      case .missing: "\(path): missing; \(check.restartAdvice)"
      case .unknown: "\(path): unknown: \(check.unknownText)"
      case .damaged where check.damaged.isEmpty: "\(path): damaged: longer than the download"
      case .damaged: "\(path): damaged: \(damaged) bytes, \(check.damaged)"
      }
    try Output.current.report(text + "\n")
  }

  /// Compares a file; `nil` if it cannot be read, which is reported: the others can be.
  private func check(_ record: DownloadRecord, in store: RecordStore) throws -> FileCheck? {
    do {
      return try store.checkFile(of: record)
    } catch let error as RecordStoreError {
      Output.current.say(TerminalText.safe(error.message))
      return nil
    }
  }

  /// Queues the download of what is damaged; returns false if the record or the file has changed
  /// meanwhile, if the file is not the downloaded one, or if its good bytes cannot be copied, such as
  /// on a full disk or while another process uses the partial file.
  private func queue(_ check: FileCheck, in store: RecordStore) throws -> Bool {
    do {
      return try store.repairFile(check) != nil
    } catch let error as RecordStoreError {
      Output.current.say("not repaired: \(TerminalText.safe(error.message))")
      return false
    }
  }

  /// Runs an engine for some downloads, and returns whether all are complete.
  private func download(_ urls: [String], in store: RecordStore) async throws -> Bool {
    let end: EngineSetup.End
    let setup = try EngineSetup(
      store: store,
      limits: limits,
      display: display,
      hooks: hooks,
      scope: urls
    )
    do {
      let session = try EngineSession(store: store, setup: setup)
      end = try await session.run(until: .finished(.matching(urls))).end
    } catch let error as EngineError where error.code == .alreadyRunning {
      throw CommandFailure(
        .engineRuns,
        "\(error.message); the repair is stored: \(SuggestedCommand.text("get URL")) waits for it"
      )
    }
    if let signal = end.signal { throw CommandFailure(signal.status) }
    return try areComplete(urls, in: store)
  }

  private func areComplete(_ urls: [String], in store: RecordStore) throws -> Bool {
    try store.objects.read { tx in
      try tx.find(DownloadRecord.self, keys: urls).allSatisfy { $0?.state == .completed }
    }
  }
}

extension RecordJSON {
  /// The result of comparing a finished file with its digests.
  static func check(_ check: FileCheck) -> JSONValue {
    [
      "id": .string(check.record.id),
      "displayURL": .string(Redaction.url(check.record.url)),
      "path": .string(check.path),
      "result": .string(check.finding.rawValue),
      "damagedBytes": .integer(check.damaged.byteCount),
      "damaged": JSONValue(ranges: check.damaged.ranges),
    ]
  }
}

extension FileCheck {
  /// How the file is downloaded again.
  fileprivate var restartAdvice: String {
    "\(SuggestedCommand.text("restart \(record.id)")) downloads it again"
  }

  /// What is known of a file whose contents cannot be compared, and what the user can do.
  var unknownText: String {
    let reason =
      record.hasPieceDigests
      ? "some of its pieces have no digest" : "there is no checksum to compare its contents with"
    let checksum = "a download with --checksum can be compared"
    guard let identity, let own = record.fileIdentity else { return "\(reason); \(checksum)" }
    let change: String
    if identity.size != own.size {
      change = "it has \(identity.size) bytes, and the downloaded file had \(own.size)"
    } else if identity.inode != own.inode {
      change = "another file of the same size is in the place of the downloaded one, perhaps a copy"
    } else if identity.modified != own.modified {
      change = "it was written or touched after the download"
    } else {
      return "\(reason), but its size and time are those of the downloaded file; \(checksum)"
    }
    return "\(change); \(reason); \(restartAdvice)"
  }
}
