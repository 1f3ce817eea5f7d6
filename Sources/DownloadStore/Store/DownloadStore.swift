internal import Migrations
public import ObjectStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The durable records of downloads, in a folder that any number of processes share.
///
/// Every method is one transaction. The clock is given from outside, so that tests decide what time
/// it is.
public final class DownloadStore: Sendable {
  /// The objects below: ``DownloadRecord``, ``Root`` and ``RequestHeaders``.
  public let objects: ObjectStore
  /// The store's id: 16 hexadecimal digits that are part of the name of every partial file.
  ///
  /// Chosen at random when the store is made, and never changed. A backup or another copy of the
  /// store has the same id, so that it continues the downloads of the original where that is gone.
  public let id: String
  let now: @Sendable () -> Date

  /// The folder of the store.
  public var path: String { objects.path }

  /// The models that a store of downloads holds, as the schema lock describes them.
  public static let models: [any Model.Type] = [
    DownloadRecord.self, Root.self, RequestHeaders.self,
  ]

  /// Opens the store in the folder `path`, or makes it.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - access: What the caller may do, and whether a store is made where there is none.
  ///   - checksPages: Whether every page of the file is checked first; see
  ///     `StoreOptions.checksPages`.
  ///   - now: The clock.
  /// - Throws: ``StoreError``, as ``ObjectStore/init(at:models:options:)``.
  public init(
    at path: String,
    access: StoreOptions.Access = .create,
    checksPages: Bool = false,
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    objects = try ObjectStore(
      at: path,
      models: Self.models,
      options: StoreOptions(
        access: access,
        schemaVersion: DownloadMigrations.currentVersion,
        checksPages: checksPages
      )
    )
    id = RecordIdentity.id(ofStoreWithSeed: objects.seed)
    self.now = now
  }

  // MARK: Finding

  /// The record of that URL, or of that id, or of the one id that begins like that.
  ///
  /// - Throws: ``DownloadStoreError`` with `unknownRecord` or `ambiguousID`; ``StoreError``.
  public func record(named name: String) throws -> DownloadRecord {
    try objects.read { tx in try tx.record(named: name).get() }
  }

  /// The records of a query.
  ///
  /// - Throws: ``StoreError``.
  public func records(_ query: Query<DownloadRecord>) throws -> [DownloadRecord] {
    try objects.read { tx in try tx.fetch(query) }
  }

  /// The header fields that were given for a record.
  ///
  /// - Throws: ``StoreError``.
  public func headers(of record: DownloadRecord) throws -> [HeaderField] {
    guard record.hasHeaders else { return [] }
    return try objects.read { tx in try tx.get(RequestHeaders.self, record.id)?.fields ?? [] }
  }

  /// The header fields that a request for a record carries to a URL: all of them to the origin that
  /// they were given for, and those that ``Redaction`` shows to any other.
  ///
  /// - Throws: ``StoreError``.
  public func headers(of record: DownloadRecord, sentTo url: String) throws -> [HeaderField] {
    guard record.hasHeaders else { return [] }
    return try objects.read { tx in
      try tx.get(RequestHeaders.self, record.id)?.fields(of: record, sentTo: url) ?? []
    }
  }

  // MARK: Roots

  /// The paths of all roots by their names.
  ///
  /// - Throws: ``StoreError``.
  public func roots() throws -> Roots {
    let roots = try objects.read { tx in try tx.fetch(Root.all) }
    return Roots(
      // Names that look alike are one name to people.
      paths: Dictionary(roots.map { ($0.name, $0.path) }, uniquingKeysWith: { first, _ in first }),
      standardPath: "\(path)/files",
      storeID: id
    )
  }

  /// Gives the root of that name a path, for its records of today too.
  ///
  /// - Parameters:
  ///   - path: An absolute path.
  ///   - name: The root's name.
  /// - Throws: ``DownloadStoreError`` with `invalidName` for a relative path; ``StoreError``.
  public func setRoot(_ path: String, named name: String = RootName.standard) throws {
    let path = try Self.validatedRoot(path)
    try objects.write { tx in _ = try tx.upsert(Root(name: name, path: path)) }
  }

  /// The name of the root with that path; it is made when there is none.
  ///
  /// - Throws: ``DownloadStoreError`` with `invalidName` for a relative path; ``StoreError``.
  public func root(at path: String) throws -> String {
    let path = try Self.validatedRoot(path)
    let roots = try roots()
    if roots.path(of: RootName.standard) == path { return RootName.standard }
    if let known = roots.name(of: path) { return known }
    return try objects.write { tx in
      if let known = try tx.fetch(Root.all).first(where: { $0.path == path }) { return known.name }
      var name = "root-\(RecordIdentity.id(forURL: path))"
      // A root that was made here may have moved on, and its records with it.
      while try tx.get(Root.self, name) != nil { name += "-" }
      try tx.insert(Root(name: name, path: path))
      return name
    }
  }

  /// An absolute path without a slash at its end.
  private static func validatedRoot(_ path: String) throws(DownloadStoreError) -> String {
    guard path.utf8.first == UInt8(ascii: "/") else {
      throw DownloadStoreError(.invalidName, "'\(path)' is no root: it must be an absolute path")
    }
    let end = path.utf8.lastIndex { $0 != UInt8(ascii: "/") }
    return end.map { String(path[...$0]) } ?? "/"
  }
}

/// The paths of a store's roots at one moment.
public struct Roots: Sendable, Hashable {
  let paths: [String: String]
  let standardPath: String
  let storeID: String

  /// The path of a root; `nil` when the store does not know the name.
  public func path(of name: String) -> String? {
    paths[name] ?? (name == RootName.standard ? standardPath : nil)
  }

  /// The name of the root with that path.
  public func name(of path: String) -> String? {
    paths.filter { $0.value == path }.map(\.key).min()
  }

  /// Where the files of a record lie.
  ///
  /// - Throws: ``DownloadStoreError`` with `missingRoot`.
  public func layout(of record: DownloadRecord) throws(DownloadStoreError) -> FileLayout {
    guard let path = path(of: record.root) else {
      throw DownloadStoreError(
        .missingRoot,
        "the store has no root named '\(record.root)', in which \(record.id) lies"
      )
    }
    return FileLayout(record: record, storeID: storeID, rootPath: path)
  }
}
