internal import LMDB
package import ObjectStoreCore
internal import SystemInterface

extension Store {
  /// Imports a JSON Lines file into the store in a folder, for tools that do not have its models.
  ///
  /// A missing store is created with the models and the schema version of the file's first line. It
  /// appears under its name once it is complete and synced to disk, so a failed import leaves no
  /// store.
  ///
  /// If the store exists, the whole file is read once before anything is written: an invalid line
  /// is found while the store is unchanged. A failure after that, such as an object that violates a
  /// unique index, leaves the transactions before it, as
  /// ``Store/importJSONLines(from:options:)`` describes.
  ///
  /// - Parameters:
  ///   - descriptor: The file. If the store exists, it must be seekable. The caller closes it.
  ///   - name: The name of the file in errors.
  ///   - path: The folder of the store.
  ///   - options: Options of the import. A new store has no objects to conflict with.
  ///   - review: Examines the objects before they are written; by default all are.
  /// - Returns: The number of objects, and how they were handled.
  /// - Throws: ``StoreError``, as ``Store/importJSONLines(from:options:)``; also `invalidInput` if
  ///   the store is missing and the file does not describe its models, and `schemaMismatch` if the
  ///   file and the store have different schema versions.
  package static func importJSONLines(
    from descriptor: Int32,
    named name: String,
    intoStoreAt path: String,
    options: ImportOptions = ImportOptions(),
    review: (any ImportReview)? = nil
  ) throws -> ImportReport {
    guard exists(at: path) else {
      return try translating("creating a store in \(path)") {
        try createStore(at: path, from: LineReader(descriptor, named: name), options, review)
      }
    }
    let store = try openWithoutModels(path)
    return try translating("importing \(name)") {
      try store.check(LineReader(descriptor, named: name), options, review)
      guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw StoreError(errno: errno, name) }
      return try store.importLines(LineReader(descriptor, named: name), options, review)
    }
  }

  /// Opens an existing store for reading and writing, with the schema version that it has, for
  /// tools that do not have its models.
  ///
  /// - Throws: ``StoreError`` with `notFound`, `permissionDenied`, `damaged` or `tooNew`.
  package static func openWithoutModels(_ path: String) throws -> Store {
    let version = try Store(at: path, models: [], options: StoreOptions(access: .readOnly))
      .readStored { $1.version }
    let options = StoreOptions(access: .readWrite, schemaVersion: version)
    return try Store(at: path, models: [], options: options)
  }

  /// Reads every line and compares it with the store's schema, without writing.
  private func check(
    _ lines: LineReader,
    _ options: ImportOptions,
    _ review: (any ImportReview)?
  ) throws {
    var session = JSONLinesImport(
      environment: environment,
      options: options,
      schemaVersion: schemaVersion,
      historyLimit: historyLimit,
      isCheck: true,
      review: review,
      didCommit: { _, _ in }
    )
    try session.add(lines)
    guard let version = session.schema?.schemaVersion, version != schemaVersion else { return }
    throw StoreError(
      .schemaMismatch,
      """
      the file has schema version \(version) and the store \(schemaVersion): import the file into \
      a new store, or open the older of the two with the program of the newer one first
      """
    )
  }

  private static func createStore(
    at path: String,
    from lines: LineReader,
    _ options: ImportOptions,
    _ review: (any ImportReview)?
  ) throws -> ImportReport {
    func refusal(_ reason: String) -> StoreError {
      let cause = JSONLinesError(line: 1, reason: reason)
      return StoreError(.invalidInput, "cannot import \(cause)", cause: cause)
    }
    let line: [UInt8]?
    do {
      line = try lines.next()
    } catch let error as LineReader.LineTooLong {
      throw refusal(error.reason)
    }
    guard let first = line else { throw refusal("the file is empty, so it cannot create a store") }
    let json: JSONValue
    do {
      json = try JSONParser.parse(first)
    } catch {
      throw refusal(JSONLinesImport.reason(error, in: first))
    }
    guard JSONLinesSchema.isHeader(json) else {
      throw refusal("it does not describe the models, so the file cannot create a store")
    }
    let version: UInt32
    do {
      version = try JSONLinesSchema(json: json).schemaVersion
    } catch let error as JSONLinesError {
      throw refusal(error.reason)
    }
    var status = stat()
    let isNewFolder = statFollowingLinks(path, &status) != 0
    do {
      let folder = try UnfinishedWork.begin { try NewStoreFolder(path, isNew: isNewFolder) }
      guard folder != nil else { throw StoreError(errno: ECANCELED, path) }
      defer { UnfinishedWork.end(path) }
      var report: ImportReport?
      let isComplete = try NewDataFile.createIfMissing(in: path) { folder in
        report = try fill(folder, first, version, lines, options, review)
      }
      guard isComplete, let report else {
        throw StoreError(
          .cannotCreate,
          """
          \(path): nothing was imported, because another process has created a store there, or \
          the file system has no hard links
          """
        )
      }
      return report
    } catch {
      if isNewFolder { _ = rmdir(path) }
      throw error
    }
  }

  /// Creates a data file in a folder and imports the lines.
  private static func fill(
    _ folder: String,
    _ first: [UInt8],
    _ schemaVersion: UInt32,
    _ lines: LineReader,
    _ options: ImportOptions,
    _ review: (any ImportReview)?
  ) throws -> ImportReport {
    let environment = try Environment.open(folder, options: EnvironmentOptions())
    let storeOptions = StoreOptions(schemaVersion: schemaVersion)
    try StoreOpening.writeSchema(of: environment, models: [], options: storeOptions, nil)
    var session = JSONLinesImport(
      environment: environment,
      options: options,
      schemaVersion: schemaVersion,
      historyLimit: storeOptions.historyLimit,
      review: review,
      didCommit: { _, _ in }
    )
    try session.add(first)
    try session.add(lines)
    return try session.finish()
  }
}

/// The folder of a store that is being created.
private struct NewStoreFolder: UnfinishedItem {
  let path: String
  private let isNew: Bool

  /// Creates the folder unless it exists.
  init(_ path: String, isNew: Bool) throws {
    self.path = path
    self.isNew = isNew
    try StoreFolder.prepare(path, access: .create)
  }

  /// Removes the folder if this process made it and it is empty.
  func removeFiles() {
    if isNew { _ = rmdir(path) }
  }
}
