internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// The format of an imported file.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
  case jsonl
  case aria2
}

/// `dlstore import`: reads a file that `export` or aria2 wrote.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Reads records from a file into the store.",
    discussion: """
      'jsonl' reads an export, of downloads or of any ObjectStore folder. A missing store is created \
      from the file alone, completely or not at all. If the store exists, the whole file is checked \
      before anything is written. A record is imported only if 'add' would accept it; one whose id or \
      file name is taken gets another one, and a key that is taken is left out. 'aria2' reads a \
      session of 'aria2c --save-session' or an input file, as 'add' does, all downloads or none; \
      lines that cannot be used are reported and skipped, and the exit code is then 1. Stop aria2c \
      first: the bytes that it has received are copied, and then its partial files and their \
      control files are deleted.

      EXAMPLES:
        dlstore --store ~/copy import downloads.jsonl
        dlstore import --format aria2 aria2.session
      """
  )

  @OptionGroup var location: StoreLocation

  @Option(help: "The format of the file.")
  var format = ImportFormat.jsonl

  @Option(
    help: ArgumentHelp(
      "Except with aria2, if an object of the file is already in the store: keep the store's, "
        + "replace it, or fail.",
      valueName: "keep|replace|fail"
    )
  )
  var ifKnown: KnownObjects?

  @Flag(help: "Accept folders that the file names and that begin with a dot.")
  var hiddenFolders = false

  @Flag(help: "With aria2, keep its partial files and control files after their bytes are copied.")
  var keepPartials = false

  @OptionGroup var messages: QuietOption

  @Argument(
    help: ArgumentHelp("The file; '-' is standard input.", valueName: "file|-"),
    completion: .file()
  )
  var file: String

  func validate() throws {
    guard format != .aria2 || ifKnown == nil else {
      throw ValidationError("--if-known does not apply to aria2: known URLs are kept.")
    }
    guard format == .aria2 || !keepPartials else {
      throw ValidationError("--keep-partials requires --format aria2.")
    }
  }

  func run() throws {
    let path = location.resolved()
    switch format {
    case .jsonl:
      try importJSONLines().compact(storeAt: path, command: SuggestedCommand.text("compact"))
    case .aria2:
      let (change, isComplete) = try importAria2()
      change.compact(storeAt: path, command: SuggestedCommand.text("compact"))
      if !isComplete { throw CommandFailure(.failed) }
    }
  }

  private func report(_ report: ImportReport, _ review: DownloadImport) throws -> BulkChange {
    // The library counts known objects.
    let omitted = DownloadImport.Omission.allCases.filter { $0 != .known }.map { omission in
      (count: review.omittedCounts[omission, default: 0], reason: omission.text)
    }
    try messages.report(KnownObjects.summary(of: report, omitted: omitted))
    return BulkChange(objectCount: report.inserted + report.updated)
  }

  // MARK: JSON Lines

  private func importJSONLines() throws -> BulkChange {
    let path = location.resolved()
    let source = try ImportSource(file, mustBeSeekable: Store.exists(at: path))
    let lock = try lockEngine()
    let review = DownloadImport(
      intoStoreAt: lock == nil ? nil : path,
      known: ifKnown == .replace ? .replace : ifKnown == .fail ? .fail : .keep,
      acceptsHiddenFolders: hiddenFolders
    )
    let report: ImportReport
    do {
      let load = {
        try Store.importJSONLines(
          from: source.descriptor,
          named: source.name,
          intoStoreAt: path,
          options: (ifKnown ?? .keep).options,
          review: review
        )
      }
      // A stop between two transactions of an existing store leaves nothing behind.
      report =
        try Store.exists(at: path)
        ? load()
        : UnfinishedFiles.endingOnSignal(saying: "import stopped: repeat the command", load)
    } catch let error as StoreError where (error.cause as? JSONLinesError)?.line == 1 {
      throw CommandFailure(ExitStatus(error), message(ofFirstLine: error))
    } catch let error as StoreError where error.code == .duplicateKey && ifKnown == .fail {
      throw CommandFailure(
        ExitStatus(error),
        "\(error); --if-known keep skips what the store has, and --if-known replace replaces it"
      )
    }
    withExtendedLifetime(lock) {}
    for root in review.newRoots {
      messages.say("the root '\(root.name)' of the file is the folder \(root.path)")
    }
    for id in review.keptCompleteIDs.first {
      messages.say("kept \(id): it has completed since the export, and its file is intact")
    }
    if review.keptCompleteIDs.moreCount > 0 {
      messages.say("kept \(review.keptCompleteIDs.moreCount) more that have completed since")
    }
    for leftOut in review.leftOut.first {
      let url = Redaction.url(leftOut.url)
      let key = leftOut.key.map {
        "the key '\(Redaction.name($0))' of \(url): another download has it"
      }
      messages.say("left out \(key ?? "\(url): another download has it as a key")")
    }
    if review.leftOut.moreCount > 0 {
      messages.say(
        "left out \(review.leftOut.moreCount) more keys or URLs that other downloads have"
      )
    }
    if review.changedRecordCount > 0 {
      messages.say(
        "records with another id or file name, because theirs was taken: "
          + "\(review.changedRecordCount)"
      )
    }
    return try self.report(report, review)
  }

  /// The name of the file in messages.
  private var name: String { file == "-" ? "standard input" : file }

  /// Says why the first line is none of an export, and which command reads a list of URLs.
  private func message(ofFirstLine error: StoreError) -> String {
    let add = SuggestedCommand.text("add --input-file \(ShellWord.quoted(file))")
    let message = error.cause.map { "cannot import \(name): \($0)" } ?? "\(error)"
    guard file != "-", let handle = FileHandle(forReadingAtPath: file) else {
      return "\(message); if it is a list of URLs, 'add' with --input-file adds them"
    }
    let bytes = (try? handle.read(upToCount: 1_024)) ?? Data()
    guard !bytes.contains(0) else { return "\(file) is not an export: it is not a text file" }
    // A damaged export is no list.
    guard bytes.first != UInt8(ascii: "{") else { return message }
    // A byte order mark, or a character that a cut has divided, is no reason to guess less.
    let start = String(decoding: bytes, as: UTF8.self)
    let line = start.split(whereSeparator: \.isNewline)
      .map { $0.drop { $0.isWhitespace || $0 == "\u{FEFF}" } }
      .first { !$0.isEmpty && !$0.hasPrefix("#") }
    guard line?.contains(/^[A-Za-z]+:\/\//) == true else {
      return "\(message); if \(file) is a list of URLs, \(add) adds them; of a session of aria2c, "
        + "--format aria2 imports the options, too"
    }
    return
      "\(file) is a list of URLs, and not an export: \(add) adds them; for a session of aria2c "
      + "pass --format aria2"
  }

  /// Takes the engine lock of an existing store of downloads.
  ///
  /// A running engine does not expect records whose state it has not written.
  private func lockEngine() throws -> EngineLock? {
    let path = location.resolved()
    guard Store.exists(at: path), try location.openedWithoutModels().hasDownloads() else {
      return nil
    }
    return try EngineLock(storePath: path)
  }

  // MARK: aria2

  private func importAria2() throws -> (BulkChange, isComplete: Bool) {
    let list = try InputFile(file)
    if list.entries.isEmpty, list.problems.isEmpty {
      messages.say("\(name) contains no download: nothing was imported")
    }
    var isComplete = !list.problems.contains(where: \.isFatal)
    for problem in list.problems {
      Output.current.say("\(file):\(problem.line): \(problem.message)")
    }
    let store = try RecordStore(at: location.resolved())
    var downloads = try Aria2Downloads(store: store, acceptsHiddenFolders: hiddenFolders)
    for entry in list.entries {
      do {
        try downloads.append(entry, of: file)
      } catch let error as RecordStoreError {
        isComplete = false
        Output.current.say("\(file):\(entry.line): \(error.message)")
      } catch let error as CommandFailure {
        isComplete = false
        Output.current.say("\(file):\(entry.line): \(error.message ?? "invalid")")
      }
    }
    let outcome = try downloads.add(keepingPartials: keepPartials) { Output.current.say($0) }
    for notice in outcome.notices { messages.say(notice) }
    try messages.report(outcome.added.map(\.line).joined())
    for message in outcome.added.flatMap(\.messages) { messages.say(message) }
    if outcome.takenByteCount > 0 {
      messages.say("took over \(ByteAmount.text(outcome.takenByteCount)) that aria2 has received")
    }
    if outcome.unvalidatedCount > 0 {
      let count = outcome.unvalidatedCount
      messages.say(
        "\(count) of the downloads with bytes of aria2 \(count == 1 ? "has" : "have") no checksum: aria2 stores "
          + "no entity tag, so only 'run --continue-unvalidated' continues after the bytes"
      )
    }
    return (
      BulkChange(objectCount: outcome.added.count), isComplete && !outcome.hasFailed
    )
  }
}

extension DownloadImport.Omission {
  /// The words that follow the number of objects.
  fileprivate var text: String {
    switch self {
    case .known: "already in the store and kept"
    case .removed: "removed and left out"
    case .nameTaken: "left out because another download has the name"
    case .withoutDownload: "left out without its download"
    case .ofOtherStore: "left out as specific to another store"
    }
  }
}

extension DownloadRequest {
  /// Creates the request of an entry without its absolute folder.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - acceptsHiddenFolder: Whether the entry may name a hidden folder.
  /// - Throws: ``RecordStoreError``; ``CommandFailure`` for an invalid header field.
  init(_ entry: InputFile.Entry, acceptsHiddenFolder: Bool = false) throws {
    guard !entry.isDocument else {
      throw CommandFailure(.failed, "skipped a Metalink document: --metalink reads it")
    }
    try RecordIdentity.validate(entry.url)
    for mirror in entry.mirrors { try RecordIdentity.validate(mirror) }
    self.init(url: entry.url)
    mirrors = entry.mirrors
    filename = entry.filename
    folder = try FileLayout.validatedFolder(entry.folder ?? "")
    guard acceptsHiddenFolder || !FileLayout.isHidden(folder) else {
      throw CommandFailure(.failed, "skipped: the folder '\(folder)' is hidden")
    }
    collision = entry.collision ?? collision
    digest = try entry.checksum.map(Digest.init)
    headers = try entry.headers.map { try HeaderField(line: $0) }
    id = entry.gid
    isPaused = entry.isPaused
    bytesPerSecond = entry.bytesPerSecond
    connections = entry.connections
  }
}
