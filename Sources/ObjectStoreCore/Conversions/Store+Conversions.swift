package import LMDB

/// The progress of a model whose objects are converted when they are read.
public struct ConversionProgress: Sendable, Hashable {
  /// The name of the model.
  public let model: String
  /// The schema versions that objects may still have in the store.
  public let versions: [UInt32]
  /// The number of objects that the background has examined and converted.
  ///
  /// Other objects may be converted too, by writes.
  public let objectCount: Int
  /// The number of objects of the model.
  public let totalObjectCount: Int
}

extension Store {
  /// Returns the models whose objects are converted when they are read, of all models in the store.
  ///
  /// While it is not empty, programs that use these models need the steps from the oldest of the
  /// versions on.
  ///
  /// ```swift
  /// for progress in try store.conversions() {
  ///   print("\(progress.model): \(progress.objectCount) of \(progress.totalObjectCount)")
  /// }
  /// ```
  ///
  /// - Returns: The models, sorted by name; empty if all objects are stored in their new form.
  /// - Throws: ``StoreError``, as a read.
  public func conversions() throws -> [ConversionProgress] {
    try translating("reading \(path)") {
      try Self.readStored(environment) { transaction, schema in
        try schema.conversions(in: transaction)
      }
    }
  }

  /// Stores the new form of all objects that are converted when they are read.
  ///
  /// Works without the pauses of the background. Blocks the thread; other threads and processes can
  /// read and write meanwhile. The indexes of the changed fields are built afterwards, as
  /// ``StoreOptions/indexBuilding`` says.
  ///
  /// - Throws: ``StoreError`` with `migrationFailed` if objects cannot be converted: all others are;
  ///   `permissionDenied` if the store is open read-only, or as a write.
  public func finishConversions() throws {
    guard !isReadOnly else {
      throw StoreError(.permissionDenied, "writing \(path): the store is open read-only")
    }
    // Also after a failure: other models may be converted, so that their indexes can be built.
    defer { background.start(converting: false) }
    try translating("converting objects of \(path)") {
      while try background.conversionStep() {}
    }
  }
}

extension StoredSchema {
  /// Returns the models whose records are converted when they are read.
  package func conversions(in transaction: borrowing ReadTransaction) throws -> [ConversionProgress]
  {
    try models.filter(\.outdated.isPending).map { entry in
      let total = try transaction.count(of: entry.tables.records)
      return ConversionProgress(
        model: entry.tables.name,
        versions: entry.outdated.versions.map(\.version),
        objectCount: min(Int(clamping: entry.outdated.objectCount), total),
        totalObjectCount: total
      )
    }
  }

  /// Throws if records of a model are in the form before a migration.
  ///
  /// - Throws: ``StoreError`` with `busy`.
  package func requireConverted(_ purpose: String) throws {
    guard let entry = models.first(where: \.outdated.isPending) else { return }
    throw StoreError(
      .busy,
      """
      \(purpose) needs the steps of its program: objects of \(entry.tables.name) are converted when \
      they are read; let the program convert all of them first
      """
    )
  }
}
