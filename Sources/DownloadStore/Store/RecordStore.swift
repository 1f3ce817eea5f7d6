internal import Dispatch
internal import Migrations
public import ObjectStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A durable store of download records, in a folder that any number of processes may share.
///
/// Every change is one transaction, and durable when the method returns. The store does not
/// download: a `DownloadEngine`, in this or another process, transfers the files and carries out
/// the commands.
///
/// ```swift
/// let store = try RecordStore(at: "downloads")
/// try await store.add([DownloadRequest(url: "https://example.com/model.bin")])
/// let waiting = try store.records(DownloadRecord.where { $0.state == .waiting })
/// ```
public final class RecordStore: Sendable {
  /// The underlying object store, to query and to observe the records.
  public let objects: Store
  /// The store's id: 16 hexadecimal digits, part of the name of every partial file.
  ///
  /// Chosen at random when the store is created, and never changed. A backup or another copy of the
  /// store has the same id, so it can continue the downloads of the original.
  package let id: String
  let now: @Sendable () -> Date
  /// Whether an addition may name a hidden folder, such as `.ssh`, whose files other programs obey.
  let acceptsHiddenFolders: Bool

  /// The folder of the store.
  package var path: String { objects.path }

  /// The models of a download store, as described by the schema lock.
  package static let models: [any Model.Type] = [
    DownloadRecord.self, Root.self, RequestHeaders.self, PieceDigests.self, EngineSettings.self,
  ]

  /// The options with which a download store is opened.
  package static let options = StoreOptions(schemaVersion: DownloadMigrations.currentVersion)

  /// Opens the store in a folder, or creates it.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - access: The access mode, and whether to create a missing store.
  ///   - immutable: Whether no process writes the store while it is open; see
  ///     `StoreOptions.immutable`.
  ///   - checksPages: Whether every page of the file is checked first; see
  ///     `StoreOptions.checksPages`.
  ///   - now: The clock.
  /// - Throws: `StoreError`, as `Store.init(at:models:options:)`.
  public convenience init(
    at path: String,
    access: StoreOptions.Access = .create,
    immutable: Bool = false,
    checksPages: Bool = false,
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    var options = Self.options
    options.access = access
    options.immutable = immutable
    options.checksPages = checksPages
    try self.init(at: path, options: options, now: now)
  }

  /// Opens the store with other options.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - options: The options; their schema version is ``options``'.
  ///   - now: The clock.
  /// - Throws: `StoreError`, as `Store.init(at:models:options:)`.
  package init(
    at path: String,
    options: StoreOptions,
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    objects = try Store(at: path, models: Self.models, options: options)
    id = RecordIdentity.id(ofStoreWithSeed: objects.seed)
    self.now = now
    acceptsHiddenFolders = true
  }

  private init(refusingHiddenFoldersOf store: RecordStore) {
    objects = store.objects
    id = store.id
    now = store.now
    acceptsHiddenFolders = false
  }

  /// Returns the same store for requests that come from other machines or from web pages.
  ///
  /// It refuses additions to hidden folders, such as `.ssh`, with `invalidName`.
  package func refusingHiddenFolders() -> RecordStore {
    RecordStore(refusingHiddenFoldersOf: self)
  }

  /// Runs blocking work on a background thread.
  package func inBackground<R: Sendable>(
    _ work: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
    }
  }

  // MARK: Reading

  /// Returns the record with a URL, a key, an id, a unique id prefix or a unique file name.
  ///
  /// A prefix of fewer than eight digits that is also the file name of another download is
  /// ambiguous.
  ///
  /// - Throws: ``RecordStoreError`` with `unknownRecord` or `ambiguousID`; `StoreError`.
  /// - Complexity: O(log n) for a URL, for a key, and for an id or its first eight digits or more. Otherwise
  ///   the file names of all n records are compared.
  public func record(matching name: String) throws -> DownloadRecord {
    try objects.read { tx in try tx.record(matching: name).get() }
  }

  /// Returns the record with each of some names, as ``record(matching:)`` finds it, from one snapshot.
  ///
  /// - Throws: `StoreError`.
  /// - Complexity: As for each name, but the file names of all n records are compared at most once.
  package func records(
    matching names: [String]
  ) throws -> [Result<DownloadRecord, RecordStoreError>] {
    try objects.read { tx in
      var filenames = FilenameScan(for: names)
      return try names.map { try tx.record(matching: $0, &filenames) }
    }
  }

  /// Returns the known records of requests, in their order.
  ///
  /// A request is known by its key, or else by its URL; either may be the URL or a key of the record. A
  /// request with a key is not known by a URL whose download has another key or digest.
  ///
  /// - Throws: `StoreError`.
  package func records(of requests: [DownloadRequest]) throws -> [DownloadRecord?] {
    try objects.read { tx in
      var records = try tx.find(DownloadRecord.self, keys: requests.map(\.url))
      for (index, request) in requests.enumerated() {
        if let key = request.key {
          let isUsable = records[index]?.mayHave(key: key, request.digest) ?? false
          records[index] = try tx.record(withKeyOrURL: key) ?? (isUsable ? records[index] : nil)
        } else if records[index] == nil {
          records[index] = try tx.record(withKey: request.url)
        }
      }
      return records
    }
  }

  /// Returns the records of a query, by default all records, from one snapshot.
  ///
  /// ```swift
  /// let paused = try store.records(DownloadRecord.where { $0.state == .paused })
  /// ```
  ///
  /// - Throws: `StoreError`.
  public func records(
    _ query: Query<DownloadRecord> = DownloadRecord.all
  ) throws -> [DownloadRecord] {
    try objects.read { tx in try tx.fetch(query) }
  }

  /// Returns the header fields that were given for a record, including secrets.
  ///
  /// - Throws: `StoreError`.
  package func headers(of record: DownloadRecord) throws -> [HeaderField] {
    guard record.hasHeaders else { return [] }
    return try objects.read { tx in try tx.find(RequestHeaders.self, key: record.id)?.fields ?? [] }
  }

  /// Returns the header fields of a record's request to a URL: all of them for the origin that they
  /// were given for, and only those that ``Redaction`` shows for any other.
  ///
  /// - Throws: `StoreError`.
  package func headers(of record: DownloadRecord, sentTo url: String) throws -> [HeaderField] {
    guard record.hasHeaders else { return [] }
    return try objects.read { tx in
      try tx.find(RequestHeaders.self, key: record.id)?.fields(sentTo: url) ?? []
    }
  }

  // MARK: Roots

  /// The folder of the root of temporary files, which need not exist.
  package var temporaryFolder: String { "\(path)/output" }

  /// Returns the paths of all roots.
  ///
  /// - Throws: `StoreError`.
  package func roots() throws -> Roots {
    let roots = try objects.read { tx in try tx.fetch(Root.all) }
    // Canonically equivalent names count as the same root.
    var paths = Dictionary(roots.map { ($0.name, $0.path) }) { first, _ in first }
    // It is always in the store, which may have been moved.
    for name in [RootName.temporary, RootName.keptOutput] { paths[name] = nil }
    return Roots(
      paths: paths,
      standardPath: "\(path)/files",
      storeID: id,
      temporaryPath: temporaryFolder
    )
  }

  /// Sets the path of a root, also for its existing records.
  ///
  /// Moves no files. Durable on return. The folder need not exist: the engine creates it for the
  /// first file.
  ///
  /// Setting the path that the root has changes nothing, so each process may do it at its start.
  /// Set another path only while no engine runs: the call is not refused, but a running engine no
  /// longer finds the files of its transfers.
  ///
  /// ```swift
  /// let name = try store.root(at: "/mnt/archive")
  /// // The folder is now at another path:
  /// try store.setRoot("/media/archive", named: name)
  /// ```
  ///
  /// - Parameters:
  ///   - path: An absolute path.
  ///   - name: The root's name.
  /// - Throws: ``RecordStoreError`` with `invalidName` for a path that is relative, has `..`, or is
  ///   longer than 1,536 bytes; `StoreError`.
  public func setRoot(_ path: String, named name: String = RootName.standard) throws {
    let path = try Root.validatedPath(path)
    try objects.write { tx in _ = try tx.upsert(Root(name: name, path: path)) }
  }

  /// Returns the name of the root with a path; creates the root if there is none.
  ///
  /// A new root is durable on return.
  ///
  /// ```swift
  /// var request = DownloadRequest(url: "https://example.com/model.bin")
  /// request.root = try store.root(at: "/mnt/archive")
  /// try await store.add([request])
  /// ```
  ///
  /// - Throws: ``RecordStoreError`` with `invalidName` for a path that is relative, has `..`, or is
  ///   longer than 1,536 bytes; `StoreError`.
  public func root(at path: String) throws -> String {
    let path = try Root.validatedPath(path)
    let roots = try roots()
    if roots.path(of: RootName.standard).map(StoredText.init) == StoredText(path) {
      return RootName.standard
    }
    if let known = roots.name(of: path) { return known }
    let made = try makeRoots(at: [path])
    // Made, or found, in the transaction before.
    return made.name(of: path) ?? RootName.standard
  }

  /// Creates the roots with some paths that no root has, in one transaction.
  ///
  /// - Parameter paths: Valid paths; see ``Root/validatedPath(_:)``.
  /// - Returns: All roots.
  /// - Throws: `StoreError`.
  package func makeRoots(at paths: [String]) throws -> Roots {
    guard !paths.isEmpty else { return try roots() }
    try objects.write { tx in
      var known = Set(try tx.fetch(Root.all).map { StoredText($0.path) })
      for path in paths where known.insert(StoredText(path)).inserted {
        _ = try tx.makeRoot(at: path)
      }
    }
    return try roots()
  }
}

/// A snapshot of the paths of a store's roots.
package struct Roots: Sendable, Hashable {
  /// The stored paths by name.
  let paths: [String: String]
  /// The path of the default root if none is stored.
  let standardPath: String
  let storeID: String
  /// The path of the root of temporary files; `nil` without a store.
  package var temporaryPath: String?

  /// The path of a root; `nil` if the name is unknown.
  package func path(of name: String) -> String? {
    if let path = paths[name] { return path }
    return switch name {
    case RootName.standard: standardPath
    case RootName.temporary, RootName.keptOutput: temporaryPath
    default: nil
    }
  }

  /// The name of the root with a path.
  package func name(of path: String) -> String? {
    // On Linux, canonically equivalent paths are those of different folders.
    let path = StoredText(path)
    return allWithTemporary.filter { StoredText($0.path) == path }.map(\.name).min()
  }

  /// Returns the place of a folder below a root.
  ///
  /// - Parameter path: An absolute path without `.` and `..`.
  /// - Returns: The root that contains the folder, the deepest if several do, and the folder's path
  ///   below it; `nil` if none does.
  package func location(ofFolder path: String) -> (root: String, folder: String)? {
    RootFolders(self).place(of: path)
  }

  /// The name and the path of each root, except that of temporary files: the default one first, then
  /// the others by name.
  package var all: [(name: String, path: String)] {
    let others = paths.filter { $0.key != RootName.standard }.sorted { $0.key < $1.key }
    let standard = path(of: RootName.standard).map { [(name: RootName.standard, path: $0)] } ?? []
    return standard + others.map { (name: $0.key, path: $0.value) }
  }

  /// The name and the path of each root, and last the folder of temporary files, as the root of those
  /// that stay: only `get -o -` adds others.
  var allWithTemporary: [(name: String, path: String)] {
    all + (temporaryPath.map { [(name: RootName.keptOutput, path: $0)] } ?? [])
  }

  /// Returns the paths of a record's files.
  ///
  /// - Throws: ``RecordStoreError`` with `missingRoot`.
  package func layout(of record: DownloadRecord) throws(RecordStoreError) -> FileLayout {
    FileLayout(record: record, storeID: storeID, rootPath: try rootPath(of: record))
  }

  /// Returns the paths of a record's files, below an impossible path if its root is unknown.
  ///
  /// The record then has no files, and none can be created.
  package func possibleLayout(of record: DownloadRecord) -> FileLayout {
    FileLayout(record: record, storeID: storeID, rootPath: path(of: record.root))
  }

  /// Returns the path of a record's finished file, as ``FileLayout/finalPath``.
  ///
  /// - Throws: ``RecordStoreError`` with `missingRoot`.
  func finalPath(of record: DownloadRecord) throws(RecordStoreError) -> String {
    FileLayout.destination(
      root: try rootPath(of: record),
      folder: record.folder,
      filename: record.filename
    )
  }

  private func rootPath(of record: DownloadRecord) throws(RecordStoreError) -> String {
    guard let path = path(of: record.root) else {
      throw RecordStoreError(
        .missingRoot,
        "\(Self.unknown(record.root)), which the download \(record.id) refers to"
      )
    }
    return path
  }

  /// The beginning of a message about an unknown root.
  package static func unknown(_ name: String) -> String { "the store has no root named '\(name)'" }
}
