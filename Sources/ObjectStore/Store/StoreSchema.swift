internal import LMDB

/// What the store says of the program's models, as of one epoch.
struct StoreSchema: Sendable {
  let metadata: Metadata
  let epoch: UInt64
  /// The version of the application's schema that wrote the store last.
  let version: UInt32
  /// The models with which the program opened the store; `nil` for one that the store has not.
  let tables: [String: ModelTables?]

  /// The tables of the model, or `nil` when the store has never seen it.
  func tables<M: Model>(of model: M.Type) throws -> ModelTables? {
    guard let tables = tables[M.schema.name] else {
      throw StoreError(
        .unknownModel,
        "the store was not opened with the model \(M.schema.name)"
      )
    }
    return tables
  }
}
