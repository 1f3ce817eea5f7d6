internal import LMDB

extension ObjectStore {
  /// Copies the store as of its last commit into a new folder, while others read and write.
  ///
  /// The copy is a store like any other, without free pages. The folder appears under its name when
  /// it is complete and safe from a power cut. Costs the time to read and write the pages in use;
  /// meanwhile room freed by writes is not used again, and the file may grow.
  ///
  /// Keep to one copy of a store that goes on: histories of two that both do tell different tales.
  ///
  /// - Parameter target: The folder to make; nothing of that name may be there.
  /// - Throws: ``StoreError`` with `alreadyExists`, `notFound` (no folder above it),
  ///   `permissionDenied`, `diskFull`, `inputOutput`, `damaged`, or `wouldDeadlock` (called from
  ///   inside a write); then there is no such folder.
  public func backup(to target: String) throws {
    try translating("backing up \(path)") {
      try NewFolder.make(target) { folder in
        try environment.copy(to: folder + "/data.mdb", compacting: true)
      }
    }
  }

  /// Gives the free pages of a store that nobody has open back to the disk.
  ///
  /// Writes a copy beside the file, which then takes its place: a process that is killed meanwhile
  /// leaves the one or the other. Needs room for the copy.
  ///
  /// - Returns: How many bytes the file has lost.
  /// - Throws: ``StoreError`` with `busy` when this process or another has the store open,
  ///   `notFound`, `permissionDenied`, `diskFull`, `inputOutput` or `damaged`; then the store is as
  ///   it was.
  @discardableResult
  public static func compact(at path: String) throws -> Int64 {
    try translating("compacting \(path)") {
      let before = try FileSize.of(path + "/data.mdb")
      // A backup that nobody has opened yet has no lock file; opening makes it.
      if (try? FileSize.of(path + "/lock.mdb")) == nil { _ = try Environment.open(path) }
      try Environment.compact(path)
      return max(before - (try FileSize.of(path + "/data.mdb")), 0)
    }
  }

  /// Builds every index of every model anew from the records, each model in one transaction.
  ///
  /// For a store of which ``verify(limit:progress:)`` says that entries are missing or belong to
  /// nothing. Writes wait meanwhile.
  ///
  /// - Returns: How many entries the indexes have.
  /// - Throws: ``StoreError`` with `duplicateKey` when two objects have the same values in a unique
  ///   index, `damaged` when a record cannot be read (see ``repair(at:into:)``), `permissionDenied`,
  ///   `full` or `diskFull`; the model's indexes are then as they were.
  @discardableResult
  public func rebuildIndexes() throws -> Int {
    guard !isReadOnly else {
      throw StoreError(.permissionDenied, "writing \(path): the store is open for reading only")
    }
    return try translating("rebuilding indexes of \(path)") {
      let names = try StoredSchema(environment).models.map(\.tables.name)
      return try names.reduce(0) { try $0 + rebuildIndexes(of: $1) }
    }
  }

  private func rebuildIndexes(of model: String) throws -> Int {
    while true {
      let schema = try StoredSchema(environment)
      guard let entry = schema.model(model) else { return 0 }
      var transaction = try environment.beginWrite()
      let epoch: UInt64? = try schema.metadata.integer(MetadataKey.epoch, in: transaction)
      guard epoch == schema.epoch else { continue }
      var count = 0
      for index in entry.tables.indexes {
        try transaction.removeAll(in: index.database)
        try IndexBuilder(tables: entry.tables, index: index).run(in: &transaction)
        count += try transaction.count(of: index.database)
      }
      try transaction.commit()
      return count
    }
  }
}
