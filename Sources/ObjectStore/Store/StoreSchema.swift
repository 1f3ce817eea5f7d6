internal import LMDB

/// What the store says of the program's models, as of one epoch.
struct StoreSchema: Sendable {
  let metadata: Metadata
  let epoch: UInt64
  let tables: [String: ModelTables]

  func tables<M: Model>(of model: M.Type) throws -> ModelTables {
    guard let tables = tables[M.schema.name] else {
      throw StoreError(
        .unknownModel,
        "the store was not opened with the model \(M.schema.name)"
      )
    }
    return tables
  }
}
