internal import LMDB
public import ObjectStoreCore

extension Store {
  /// Copies the store as of its last commit into a new folder.
  ///
  /// Readers and writers continue during the copy. The copy is an ordinary store. Its folder
  /// appears under its name once it is complete and synced to disk. The cost is reading and
  /// writing each page in use, or without `compacting` each page of the file. Until the copy ends,
  /// pages freed by writes are not reused, so the file may grow.
  ///
  /// Continue to write to only one of the two stores. If both are written to, their histories
  /// diverge.
  ///
  /// - Parameters:
  ///   - target: The folder to create. It must not exist; its parent folder must.
  ///   - compacting: Whether to omit free pages and renumber the others. The copy is then as small
  ///     as possible. Otherwise it has the pages of the file.
  /// - Throws: ``StoreError`` with `alreadyExists`, `notFound` (the parent folder is missing),
  ///   `permissionDenied`, `diskFull`, `inputOutput`, `damaged`, or `wouldDeadlock` (called from
  ///   inside a write). The target folder is then not created.
  public func backup(to target: String, compacting: Bool = true) throws {
    try translating("backing up \(path)") {
      try NewFolder.make(target) { folder in
        try environment.copy(to: folder + "/data.mdb", compacting: compacting)
      }
    }
  }

  /// Rebuilds every index and every column of every model from the records.
  ///
  /// Use this when ``verify(limit:progress:)`` reports missing or stray index entries, or columns
  /// that differ from the records. Each model is rebuilt in one transaction, during which other writes wait.
  ///
  /// - Returns: The total number of index entries.
  /// - Throws: ``StoreError`` with `duplicateKey` if two objects have the same values in a unique
  ///   index, `damaged` if a record cannot be read (see
  ///   ``repair(at:into:models:schemaVersion:)``), `permissionDenied`, `mapFull` or `diskFull`. Models that were already rebuilt stay so; the others keep their
  ///   indexes.
  @discardableResult
  public func rebuildIndexes() throws -> Int {
    guard !isReadOnly else {
      throw StoreError(.permissionDenied, "cannot write \(path): the store is open read-only")
    }
    return try translating("rebuilding indexes of \(path)") {
      try Self.rebuildIndexes(in: environment)
    }
  }

  /// Rebuilds every index of a store without its models, whatever the version of its schema.
  ///
  /// - Throws: ``StoreError`` as ``rebuildIndexes()``, or with `tooNew` for a later file format.
  package static func rebuildIndexes(at path: String) throws -> Int {
    try translating("rebuilding indexes of \(path)") {
      let environment = try Environment.open(path)
      return try rebuildIndexes(in: environment)
    }
  }

  private static func rebuildIndexes(in environment: Environment) throws -> Int {
    let names = try StoredSchema(environment).models.map(\.tables.name)
    return try names.reduce(0) { try $0 + rebuildIndexes(of: $1, in: environment) }
  }

  private static func rebuildIndexes(of model: String, in environment: Environment) throws -> Int {
    while true {
      let schema = try StoredSchema(environment)
      guard let entry = schema.model(model) else { return 0 }
      var transaction = try environment.beginWrite()
      let epoch: UInt64? = try schema.metadata.integer(MetadataKey.epoch, in: transaction)
      guard epoch == schema.epoch else { continue }
      var count = 0
      for index in entry.tables.maintainedIndexes {
        try transaction.removeAll(in: index.database)
        try IndexBuilder(tables: entry.tables, index: index).run(in: &transaction)
        count += try transaction.count(of: index.database)
      }
      for build in try schema.metadata.indexBuilds(of: model, in: transaction) {
        try build.complete(schema.metadata, in: &transaction)
      }
      for column in entry.tables.columns {
        try transaction.removeAll(in: column.database)
        try ColumnBuilder(tables: entry.tables, column: column).run(in: &transaction)
      }
      try transaction.commit()
      return count
    }
  }
}
