internal import LMDB

/// What a write that is under way knows of its models: a writer for each that it has touched.
final class WriteState {
  let schema: StoreSchema
  private var writers: [(type: ObjectIdentifier, writer: ModelWriter)] = []

  init(_ schema: StoreSchema) {
    self.schema = schema
  }

  func writer<M: Model>(for model: M.Type) throws -> ModelWriter {
    let type = ObjectIdentifier(model)
    for entry in writers where entry.type == type { return entry.writer }
    guard let tables = try schema.tables(of: model), let current = tables.current else {
      throw StoreError(.permissionDenied, "the store is open for reading only")
    }
    let writer = ModelWriter(tables, current: current, schema: schema)
    writers.append((type, writer))
    return writer
  }

  /// What has changed in the model's chunks of hot parts and is not yet stored.
  func changedChunks(of type: ObjectIdentifier) -> HotCache? {
    for entry in writers where entry.type == type { return entry.writer.hot }
    return nil
  }

  /// Refuses what the write has left referring to nothing.
  ///
  /// - Throws: ``StoreError`` with `danglingReference`.
  func finishReferences(in transaction: borrowing WriteTransaction) throws {
    for entry in writers { try entry.writer.finishReferences(in: transaction) }
  }

  /// Stores what is kept back to be written once.
  func flush(in transaction: inout WriteTransaction) throws {
    for entry in writers { try entry.writer.hot.flush(in: &transaction) }
  }

  /// What the write has changed so far, model by model.
  var changes: [(model: String, changes: ChangeLog)] {
    writers.compactMap { entry in
      entry.writer.changes.isEmpty ? nil : (entry.writer.tables.name, entry.writer.changes)
    }
  }
}
