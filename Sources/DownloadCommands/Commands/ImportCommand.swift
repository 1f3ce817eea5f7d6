internal import ArgumentParser
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// The format of an imported file.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
  case jsonl
  case aria2
  case json
  case csv
}

/// `dlstore import`: reads a file that `export`, aria2 or another program wrote.
struct ImportCommand: ParsableCommand {
  /// The handling of objects that are already in the store.
  enum KnownObjects: String, CaseIterable, ExpressibleByArgument {
    case keep
    case replace
    case fail
  }

  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Reads records from a file into the store.",
    discussion: """
      'jsonl' reads an export, of downloads or of any ObjectStore folder. A missing store is created \
      from the file alone, completely or not at all. If the store exists, the whole file is checked \
      before anything is written. A record is imported only if 'add' would accept it; one whose id or \
      file name is taken gets another one. 'aria2' reads a session of 'aria2c --save-session' or an input \
      file, as 'add' does, all downloads or none; lines that cannot be used are reported and \
      skipped, and the exit code is then 1.

      'csv' and 'json' read the rows of another program, such as 'sqlite3 -json' or PostgreSQL's \
      COPY, into one model of an existing store. CSV begins with a line of column names; JSON is \
      an array of objects or a sequence of them. Each row becomes an object. The whole file is \
      checked before anything is written.

      EXAMPLES:
        dlstore --store ~/copy import downloads.jsonl
        dlstore import --format aria2 aria2.session
        dlstore --store notes import --format csv --delimiter tab --model Note n.tsv
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

  @Flag(
    help: "With jsonl and aria2, accept folders that the file names and that begin with a dot."
  )
  var hiddenFolders = false

  @OptionGroup var rows: RowOptions

  @Argument(
    help: ArgumentHelp("The file; '-' is standard input.", valueName: "file|-"),
    completion: .file()
  )
  var file: String

  func validate() throws {
    guard format != .aria2 || ifKnown == nil else {
      throw ValidationError("--if-known does not apply to aria2: known URLs are kept.")
    }
    guard format == .csv || rows.delimiter == nil else {
      throw ValidationError("--delimiter requires --format csv.")
    }
    guard format == .jsonl || format == .aria2 || !hiddenFolders else {
      throw ValidationError("--hidden-folders requires --format jsonl or aria2.")
    }
    switch format {
    case .json, .csv:
      guard rows.model != nil else {
        throw ValidationError("--format \(format) requires --model NAME.")
      }
    case .jsonl, .aria2:
      guard !rows.isGiven else {
        throw ValidationError(
          "--model, --map, --ignore-columns, --numeric-dates and --dry-run require --format json "
            + "or csv."
        )
      }
    }
  }

  func run() throws {
    let path = location.resolved()
    switch format {
    case .jsonl: try importJSONLines().compact(storeAt: path)
    case .json, .csv: try importRows().compact(storeAt: path)
    case .aria2:
      let (change, isComplete) = try importAria2()
      change.compact(storeAt: path)
      if !isComplete { throw CommandFailure(.failed) }
    }
  }

  /// The handling of known objects.
  private var options: ImportOptions {
    switch ifKnown ?? .keep {
    case .keep: ImportOptions(conflict: .skip)
    case .replace: ImportOptions(conflict: .replace)
    case .fail: ImportOptions(conflict: .fail)
    }
  }

  private func report(_ report: ImportReport) throws -> BulkChange {
    let counts = [
      (report.inserted, "added"), (report.updated, "replaced"), (report.unchanged, "unchanged"),
      (report.skipped, "already in the store and kept"),
    ]
    let parts = counts.filter { $0.0 > 0 || $0.1 == "added" }.map { "\($0) \($1)" }
    try Output.current.report("objects: \(parts.joined(separator: ", "))\n")
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
          options: options,
          review: review
        )
      }
      // A stop between two transactions of an existing store leaves nothing behind.
      report =
        try Store.exists(at: path)
        ? load()
        : UnfinishedFiles.endingOnSignal(saying: "import stopped: repeat the command", load)
    } catch let error as StoreError where (error.cause as? JSONLinesError)?.line == 1 {
      throw CommandFailure(
        ExitStatus(error),
        "\(error); if the file is not an export, pass --format aria2, json or csv"
      )
    }
    withExtendedLifetime(lock) {}
    for root in review.newRoots {
      Output.current.say("the root '\(root.name)' of the file is the folder \(root.path)")
    }
    if review.changedRecordCount > 0 {
      Output.current.say(
        "records with another id or file name, because theirs was taken: "
          + "\(review.changedRecordCount)"
      )
    }
    return try self.report(report)
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

  // MARK: Rows

  private func importRows() throws -> BulkChange {
    let path = try location.existing()
    let name = rows.model ?? ""
    let store = rows.dryRun ? try location.openedWithoutModels() : try .openWithoutModels(path)
    let model = try store.storedModel(named: name)
    guard !RecordStore.models.contains(where: { $0.schema.name == name }) else {
      throw CommandFailure(
        .usage,
        "\(name) describes downloads, whose values depend on each other: use 'dlstore add', or "
          + "--format jsonl for an export"
      )
    }
    let mapping = try RowMapping(
      model,
      sources: rows.sources,
      ignoresColumns: rows.ignoreColumns,
      values: ImportedValue(numericDates: rows.numericDates)
    )
    let rowImport = RowImport(
      store: store,
      mapping: mapping,
      source: try ImportSource(file, mustBeSeekable: true),
      delimiter: rows.delimiter ?? .comma,
      options: options
    )
    do {
      guard rows.dryRun else { return try report(rowImport.run(format)) }
      let check = try rowImport.check(format)
      try Output.current.line(
        "objects: \(check.new) new, \(check.known) already in the store; nothing was imported"
      )
      return BulkChange()
    } catch let error as RowError {
      throw CommandFailure(.damaged, "\(rowImport.source.name): \(error); nothing was imported")
    } catch let error as KnownObject {
      throw CommandFailure(.failed, "\(rowImport.source.name): \(error.row); nothing was imported")
    }
  }

  // MARK: aria2

  private func importAria2() throws -> (BulkChange, isComplete: Bool) {
    let list = try InputFile(file)
    var isComplete = !list.problems.contains(where: \.isFatal)
    for problem in list.problems {
      Output.current.say("\(file):\(problem.line): \(problem.message)")
    }
    let store = try RecordStore(at: location.resolved())
    var requests: [DownloadRequest] = []
    /// The absolute folder of each request.
    var folders: [String?] = []
    var known = RootFolders(try store.roots())
    for entry in list.entries {
      do {
        let request = try DownloadRequest(entry, acceptsHiddenFolder: hiddenFolders)
        let folder = entry.absoluteFolder.map { Folder.absolutePath($0) }
        if let folder { try validate(folder, &known) }
        requests.append(request)
        folders.append(folder)
      } catch let error as RecordStoreError {
        isComplete = false
        Output.current.say("\(file):\(entry.line): \(error.message)")
      } catch let error as CommandFailure {
        isComplete = false
        Output.current.say("\(file):\(entry.line): \(error.message ?? "invalid")")
      }
    }
    let roots = RootFolders(try store.makeRoots(at: known.new))
    for (index, folder) in folders.enumerated() {
      guard let folder, let place = roots.place(of: folder) else { continue }
      let parts = [place.folder, requests[index].folder].filter { !$0.isEmpty }
      requests[index].root = place.root
      requests[index].folder = try FileLayout.validatedFolder(parts.joined(separator: "/"))
    }
    let added = try store.addNow(requests)
    try Output.current.report(added.map(\.line).joined())
    for message in added.compactMap(\.message) { Output.current.say(message) }
    return (BulkChange(objectCount: added.count), isComplete)
  }

  /// Throws if a download must not be in a folder; notes the folder if it is in no root.
  ///
  /// - Throws: ``RecordStoreError``; ``CommandFailure`` for a hidden folder.
  private func validate(_ folder: String, _ known: inout RootFolders) throws {
    let place = known.place(of: folder)
    guard hiddenFolders || !FileLayout.isHidden(place?.folder ?? folder) else {
      throw CommandFailure(
        .failed,
        "skipped: the folder '\(folder)' is hidden; pass --hidden-folders to accept it"
      )
    }
    if let place {
      _ = try FileLayout.validatedFolder(place.folder)
    } else {
      try known.add(folder)
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
    try RecordIdentity.validate(entry.url)
    for mirror in entry.mirrors { try RecordIdentity.validate(mirror) }
    self.init(url: entry.url)
    mirrors = entry.mirrors
    filename = entry.filename
    folder = try FileLayout.validatedFolder(entry.folder ?? "")
    guard acceptsHiddenFolder || !FileLayout.isHidden(folder) else {
      throw CommandFailure(.failed, "skipped: the folder '\(folder)' is hidden")
    }
    digest = try entry.checksum.map(Digest.init)
    headers = try entry.headers.map { try HeaderField(line: $0) }
    id = entry.gid
    isPaused = entry.isPaused
    bytesPerSecond = entry.bytesPerSecond
    connections = entry.connections
  }
}

/// The file of an import as a descriptor.
final class ImportSource {
  let descriptor: Int32
  /// The name in messages.
  let name: String

  /// Opens the file, or standard input for `-`.
  ///
  /// A pipe that must be seekable is first copied to a temporary file, which only its owner can read
  /// and which has no name.
  ///
  /// - Throws: ``CommandFailure``.
  init(_ path: String, mustBeSeekable: Bool) throws {
    name = path == "-" ? "standard input" : path
    let opened = unsafe path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else {
      throw CommandFailure(SystemCall.status(), "cannot read \(name): \(systemErrorText())")
    }
    guard mustBeSeekable, lseek(opened, 0, SEEK_CUR) != 0 else {
      descriptor = opened
      return
    }
    defer { close(opened) }
    descriptor = try Self.copy(opened, name)
  }

  deinit {
    close(descriptor)
  }

  private static func copy(_ source: Int32, _ name: String) throws -> Int32 {
    let copy = UnnamedFile.create()
    guard copy >= 0 else {
      throw CommandFailure(
        .cannotCreate,
        "cannot create a file in \(UnnamedFile.folder.path()): \(systemErrorText())"
      )
    }
    let input = FileHandle(fileDescriptor: source, closeOnDealloc: false)
    let output = FileHandle(fileDescriptor: copy, closeOnDealloc: false)
    do {
      while let part = try input.read(upToCount: 1 << 18), !part.isEmpty {
        try output.write(contentsOf: part)
      }
      try output.seek(toOffset: 0)
    } catch {
      close(copy)
      throw CommandFailure(.inputOutput, "cannot read \(name) into \(UnnamedFile.folder.path())")
    }
    return copy
  }
}
