internal import LMDB

/// The time at which the indexes that are new in the models are built.
public enum IndexBuilding: Sendable, Hashable {
  /// When the store is opened, before it can be used.
  case atOpen
  /// In the background, after the store is opened, if the model has more objects than this number.
  ///
  /// Unique indexes and those of references are built when the store is opened, because writes
  /// depend on them.
  case inBackground(above: Int)

  /// In the background for models of more than 10,000 objects, which take about 10 ms.
  public static let standard = IndexBuilding.inBackground(above: 10_000)

  /// Whether an index of a model is built after the store is opened.
  func isDeferred(_ index: IndexDescription, of schema: ModelSchema, objectCount: Int) -> Bool {
    guard case .inBackground(let limit) = self, !index.isUnique, objectCount > limit else {
      return false
    }
    return !schema.references.contains { [$0.fieldID] == index.parts.map(\.fieldID) }
  }
}

/// The progress of an index that is being built.
public struct IndexBuildProgress: Sendable, Hashable {
  /// The name of the model.
  public let model: String
  /// The names of the indexed fields, most significant first.
  public let fields: [String]
  /// The number of objects whose entries are complete.
  public let objectCount: Int
  /// The number of objects of the model.
  public let totalObjectCount: Int
}

extension Store {
  /// Returns the indexes that are being built, of all models in the store.
  ///
  /// Until an index is built, writes maintain it and queries do not use it: they scan the model, or
  /// use another index. ``ObjectReader/explain(_:)`` shows which.
  ///
  /// - Throws: ``StoreError``, as a read.
  public func indexBuilds() throws -> [IndexBuildProgress] {
    try translating("reading \(path)") {
      let schema = try StoredSchema(environment)
      let transaction = try environment.beginRead()
      return try schema.metadata.indexBuilds(in: transaction).compactMap { build in
        guard let entry = schema.model(build.model) else { return nil }
        return IndexBuildProgress(
          model: build.model,
          fields: build.index.parts.map { entry.names[$0.fieldID] ?? "field \($0.fieldID)" },
          objectCount: Int(clamping: build.objectCount),
          totalObjectCount: try transaction.count(of: entry.tables.records)
        )
      }
    }
  }

  /// Builds the indexes that are being built in the background, and returns when they are complete.
  ///
  /// Works without the pauses of the background. Blocks the thread; other threads and processes can
  /// read and write meanwhile.
  ///
  /// ```swift
  /// try store.finishIndexBuilds()
  /// ```
  ///
  /// - Throws: ``StoreError`` with `permissionDenied` if the store is open read-only, or as a write.
  public func finishIndexBuilds() throws {
    guard !isReadOnly else {
      throw StoreError(.permissionDenied, "writing \(path): the store is open read-only")
    }
    try translating("building indexes of \(path)") {
      while try background.buildStep() {}
    }
  }
}
