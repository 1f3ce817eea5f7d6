internal import CommandLineSupport
internal import DownloadMetalink
internal import DownloadStore
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// The downloads of a session of aria2, which are added with the bytes that aria2 has received.
struct Aria2Downloads {
  private let store: RecordStore
  private let acceptsHiddenFolders: Bool
  /// Whether a file without a control file is continued, as `continue` of aria2 does.
  var continuesFiles = false
  private var known: RootFolders
  private var requests: [DownloadRequest] = []
  private var digests = ListedDigests()
  /// The absolute folder of each request.
  private var folders: [String?] = []

  /// The result of ``add(keepingPartials:_:)``.
  struct Outcome {
    /// The records, in the order of the requests.
    var added: [RecordStore.Added] = []
    /// The number of bytes that were taken over.
    var takenByteCount: Int64 = 0
    /// The number of downloads that have such bytes, also from an earlier call, but no digest.
    var unvalidatedCount = 0
    /// Whether the bytes of a download could not be taken over.
    var hasFailed = false
    /// Messages about files of the user that stay.
    var notices: [String] = []
  }

  /// What is on disk for a download.
  private enum Files {
    case none
    case partial(ForeignPartial)
    /// aria2's files, or only its control file, of a download that has bytes.
    case known(ForeignPartial)
    /// An empty file, which any file continues.
    case empty
    /// The finished file, which has the digest.
    case finished
    /// A file that aria2 has not begun, or what is no file, with the reason why it stays.
    case other(path: String, reason: String)
    case unusable(CommandFailure)
  }

  /// Creates a list without downloads.
  ///
  /// - Throws: `StoreError`.
  init(store: RecordStore, acceptsHiddenFolders: Bool) throws {
    self.store = store
    self.acceptsHiddenFolders = acceptsHiddenFolders
    known = RootFolders(try store.roots())
  }

  /// The number of downloads.
  var count: Int { requests.count }

  /// Appends an entry of a session; those of a Metalink document, for such an entry.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - list: The path of the session, beside which a document is looked for.
  ///   - change: Completes each request.
  /// - Throws: ``RecordStoreError``, also if an earlier entry has another checksum of the URL;
  ///   ``CommandFailure``; the errors of `change`.
  mutating func append(
    _ entry: InputFile.Entry,
    of list: String,
    _ change: (inout DownloadRequest) throws -> Void = { _ in }
  ) throws {
    let folder = entry.absoluteFolder.map { Folder.absolutePath($0) }
    for var request in try Self.requests(entry, of: list, acceptsHiddenFolders) {
      try change(&request)
      try digests.note(&request, ofLine: entry.line)
      try append(request, folder: folder)
    }
  }

  /// Appends a download.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - folder: The absolute path of the folder of its file; `nil` for the standard one.
  /// - Throws: ``RecordStoreError`` if it must not be there; ``CommandFailure`` for a hidden folder.
  mutating func append(_ request: DownloadRequest, folder: String?) throws {
    if let folder {
      let place = known.place(of: folder)
      guard acceptsHiddenFolders || !FileLayout.isHidden(place?.folder ?? folder) else {
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
    requests.append(request)
    folders.append(folder)
  }

  /// Adds the downloads in one transaction, and then takes over the bytes of each that aria2 has begun.
  ///
  /// Until its bytes are copied and synced, such a download is paused; after a kill, the same call
  /// continues. aria2's files are deleted when the record counts the bytes, also by the call after one that
  /// was killed before that. A file without a control file stays: it is the user's, and the new file gets
  /// another name, unless the request replaces it. ``Destination`` gives that name back.
  ///
  /// - Parameters:
  ///   - keepsPartials: Whether aria2's files stay.
  ///   - say: Prints a message.
  /// - Returns: The records, and what was taken over.
  /// - Throws: As ``RecordStore/addNow(_:)``. A download whose bytes cannot be taken over is reported.
  func add(keepingPartials keepsPartials: Bool, _ say: (String) -> Void) throws -> Outcome {
    let requests = try placed()
    let roots = try store.roots()
    let begun = Set(
      try store.records(withURLs: requests.map(\.url))
        .filter { $0.received > 0 || $0.state == .completed }.map { StoredText($0.url) }
    )
    let files = requests.map { Self.files(of: $0, roots, continuesFiles, begun) }
    var first = requests
    for (index, files) in files.enumerated() {
      first[index].filename = first[index].filename ?? Self.name(of: requests[index])
      switch files {
      case .partial(let partial):
        first[index].isPaused = true
        if partial.controlPath != nil {
          first[index].collision = .replace
        } else if requests[index].collision == .fail {
          first[index].collision = .number
        }
      case .empty: first[index].collision = .replace
      case .finished:
        first[index].collision = .keep
        // The file has it. A file that is kept is not read again.
        first[index].digest = nil
      case .none, .known, .other, .unusable: first[index].filename = requests[index].filename
      }
    }
    var outcome = Outcome()
    outcome.added = try store.addNow(first)
    for (index, files) in files.enumerated() {
      switch files {
      case .none, .finished, .empty: break
      case .other(let path, let reason):
        guard outcome.added[index].isNew, requests[index].collision == .number else { continue }
        let name = outcome.added[index].record.filename
        outcome.notices.append("\(path) stays, because \(reason): the new file is '\(name)'")
      case .unusable(let failure):
        outcome.hasFailed = true
        if let message = failure.message { say(message) }
      case .partial(let partial):
        if !requests[index].isPaused, outcome.added[index].note == .pauseIgnored {
          outcome.added[index].note = nil
        }
        var request = first[index]
        request.isPaused = requests[index].isPaused
        take(partial, for: request, at: index, of: &outcome, keepsPartials, say)
      case .known(let partial):
        settle(partial, at: index, of: &outcome, keepsPartials, say)
      }
    }
    return outcome
  }

  private func take(
    _ partial: ForeignPartial,
    for request: DownloadRequest,
    at index: Int,
    of outcome: inout Outcome,
    _ keepsPartials: Bool,
    _ say: (String) -> Void
  ) {
    do {
      let added = try store.add(request, adopting: partial)
      outcome.added[index].record = added.record
      outcome.takenByteCount += partial.ranges.byteCount
      if added.record.expectedDigest == nil { outcome.unvalidatedCount += 1 }
      guard !keepsPartials, partial.controlPath != nil, !partial.deleteFiles() else { return }
      say(Self.changed(partial))
    } catch let error as RecordStoreError where error.code == .busy {
      // A known download, which has bytes of its own.
      say("\(partial.path) is not taken over: \(error.message)")
    } catch {
      outcome.hasFailed = true
      say("\(partial.path): \((error as? CommandFailure)?.message ?? "\(error)")")
    }
  }

  /// Deletes aria2's files of a known download if an earlier call has taken over their bytes.
  private func settle(
    _ partial: ForeignPartial,
    at index: Int,
    of outcome: inout Outcome,
    _ keepsPartials: Bool,
    _ say: (String) -> Void
  ) {
    let record = outcome.added[index].record
    do {
      guard try store.hasBytes(of: partial, record) else {
        guard partial.identity != nil else { return }
        let reason =
          "'\(Redaction.url(record.url))' is a known download, which "
          + (record.received > 0 ? "has begun" : "starts again")
        return say("\(partial.path) is not taken over: \(reason)")
      }
      let isValidated =
        record.expectedDigest != nil || record.entityTag != nil || record.lastModified != nil
      if record.state != .completed, !isValidated { outcome.unvalidatedCount += 1 }
      guard !keepsPartials, !partial.deleteRest(of: record) else { return }
      say(Self.changed(partial))
    } catch {
      outcome.hasFailed = true
      say("\(partial.path): \(error)")
    }
  }

  private static func changed(_ partial: ForeignPartial) -> String {
    "\(partial.path) stays, with its control file: it has changed; is aria2c running?"
  }

  /// Returns where the caller expects the file of each URL.
  ///
  /// - Parameter isQuiet: Whether only errors are printed.
  /// - Returns: The destinations by URL.
  /// - Throws: `StoreError`; ``RecordStoreError``.
  func destinations(isQuiet: Bool) throws -> [StoredText: Destination] {
    let requests = try placed()
    let roots = try store.roots()
    let destinations = requests.compactMap { request -> (StoredText, Destination)? in
      guard let root = roots.path(of: request.root) else { return nil }
      let name = Self.name(of: request)
      let path = FileLayout.destination(root: root, folder: request.folder, filename: name)
      let destination = Destination(
        path: path,
        safeName: SafeFilename.sanitized(name),
        collision: request.collision,
        isNameGiven: request.filename != nil,
        isContinued: continuesFiles,
        isQuiet: isQuiet
      )
      return (StoredText(request.url), destination)
    }
    return Dictionary(destinations) { first, _ in first }
  }

  /// The requests with their roots, which are made.
  private func placed() throws -> [DownloadRequest] {
    let roots = RootFolders(try store.makeRoots(at: known.new))
    var requests = requests
    for (index, folder) in folders.enumerated() {
      guard let folder, let place = roots.place(of: folder) else { continue }
      let parts = [place.folder, requests[index].folder].filter { !$0.isEmpty }
      requests[index].root = place.root
      requests[index].folder = try FileLayout.validatedFolder(parts.joined(separator: "/"))
    }
    return requests
  }

  private static func name(of request: DownloadRequest) -> String {
    request.filename ?? SafeFilename.suggested(byURL: request.url)
  }

  private static func files(
    of request: DownloadRequest,
    _ roots: Roots,
    _ continuesFiles: Bool,
    _ begun: Set<StoredText>
  ) -> Files {
    guard let root = roots.path(of: request.root) else { return .none }
    let path = FileLayout.destination(
      root: root,
      folder: request.folder,
      filename: SafeFilename.sanitized(name(of: request))
    )
    let isBegun = begun.contains(StoredText(request.url))
    let hasControl = FileIdentity(ofFileAt: ForeignPartial.controlPath(of: path)) != nil
    guard let identity = FileIdentity(ofFileAt: path) else {
      if let kind = obstacle(at: path) { return .other(path: path, reason: "it is \(kind)") }
      guard isBegun, hasControl, let rest = try? ForeignPartial(controlledAt: path) else {
        return .none
      }
      return .known(rest)
    }
    guard !hasControl else {
      let files = partial(at: path)
      if isBegun, case .partial(let partial) = files { return .known(partial) }
      return files
    }
    // An earlier call has copied the file, or downloads without it.
    guard !continuesFiles || !isBegun else { return .none }
    if let digest = request.digest, (try? Digest.ofFile(at: path, digest.algorithm)) == digest {
      return .finished
    }
    guard continuesFiles else {
      return .other(path: path, reason: "aria2 has left no control file beside it")
    }
    return identity.size == 0 ? .empty : partial(at: path)
  }

  /// Names what has a path and is no file that could be continued or replaced; `nil` if nothing is.
  ///
  /// aria2 writes to the file that a link leads to. Here a file is renamed when it is complete, and
  /// the link would be lost.
  static func obstacle(at path: String) -> String? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return switch status.st_mode & S_IFMT {
    case S_IFREG: nil
    case S_IFLNK: "a symbolic link, which is not followed (pass the path of its file instead)"
    case S_IFDIR: "a folder"
    default: "not a regular file"
    }
  }

  private static func partial(at path: String) -> Files {
    do {
      let partial = try ForeignPartial(ofFileAt: path)
      return partial.ranges.isEmpty ? .none : .partial(partial)
    } catch {
      return .unusable(error as? CommandFailure ?? CommandFailure(.failed, "\(path): \(error)"))
    }
  }

  // MARK: Metalink

  /// The requests of an entry.
  private static func requests(
    _ entry: InputFile.Entry,
    of list: String,
    _ acceptsHiddenFolder: Bool
  ) throws -> [DownloadRequest] {
    guard let document = try document(of: entry, list) else {
      return [try DownloadRequest(entry, acceptsHiddenFolder: acceptsHiddenFolder)]
    }
    return try document.files.map { file in
      var request = DownloadRequest(file, preferring: [])
      request.headers = try entry.headers.map { try HeaderField(line: $0) }
      request.collision = entry.collision ?? request.collision
      request.isPaused = entry.isPaused
      request.bytesPerSecond = entry.bytesPerSecond
      request.connections = entry.connections
      return request
    }
  }

  /// Reads the Metalink document of an entry; `nil` if it has none.
  ///
  /// aria2 stores the path or the URL of the document in the place of the files that it lists. That of
  /// a URL is in the folder of the files.
  private static func document(of entry: InputFile.Entry, _ list: String) throws -> Metalink? {
    let isPath = entry.isDocument
    let folder = entry.absoluteFolder ?? "."
    let places: [String]
    if isPath {
      let beside = (list as NSString).deletingLastPathComponent
      let path = entry.url
      let isPlain = path.hasPrefix("/") || path == "-"
      places = isPlain ? [path] : [path, "\(beside)/\(path)", "\(folder)/\(path)"]
    } else {
      let name = entry.filename ?? SafeFilename.suggested(byURL: entry.url)
      guard name.hasSuffix(".meta4") || name.hasSuffix(".metalink") else { return nil }
      places = ["\(folder)/\(name)"]
    }
    let path = places.first { $0 == "-" || FileIdentity(ofFileAt: $0) != nil }
    guard let path else {
      guard isPath else { return nil }
      throw CommandFailure(.failed, "skipped: the Metalink document \(entry.url) is missing")
    }
    let data = Data(try ResumeDataFile.read(path, upTo: Metalink.longest + 1))
    do {
      return try Metalink(data)
    } catch {
      throw CommandFailure(.damaged, "\(path): \(error.message)")
    }
  }
}
