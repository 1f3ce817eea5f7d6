internal import LMDB

/// The state of a write in progress, with a writer for each model that it has accessed.
final class WriteState {
  let schema: StoreSchema
  /// The state of the enclosing write, if this one is nested.
  private let parent: WriteState?
  private var writers: [(type: ObjectIdentifier, writer: ModelWriter)] = []
  /// The changes up to the end of the last nested write.
  private var mergedChanges = ChangesByModel()
  /// Writers used before the last nested write whose references must be checked at the end.
  private var uncheckedWriters: [ModelWriter] = []

  init(_ schema: StoreSchema, parent: WriteState? = nil) {
    self.schema = schema
    self.parent = parent
  }

  func writer<M: Model>(for model: M.Type) throws -> ModelWriter {
    let type = ObjectIdentifier(model)
    for entry in writers where entry.type == type { return entry.writer }
    guard let tables = try schema.tables(of: model), let current = tables.current else {
      throw StoreError(.permissionDenied, "the store is open read-only")
    }
    let writer = ModelWriter(
      tables,
      current: current,
      schema: schema,
      computedKey: model.computedKey
    )
    writers.append((type, writer))
    return writer
  }

  /// The cache of the model's changed hot chunks.
  func changedChunks(of type: ObjectIdentifier) -> HotCache? {
    for entry in writers where entry.type == type { return entry.writer.hot }
    return nil
  }

  /// The caches of the model's columns; `nil` if it has none.
  func changedColumns(of type: ObjectIdentifier) -> ColumnCaches? {
    for entry in writers where entry.type == type { return entry.writer.columns }
    return nil
  }

  /// Throws if a written record has a reference without a target.
  ///
  /// - Throws: ``StoreError`` with `danglingReference`.
  func finishReferences(in transaction: borrowing WriteTransaction) throws {
    for writer in uncheckedWriters { try writer.finishReferences(in: transaction) }
    for entry in writers { try entry.writer.finishReferences(in: transaction) }
  }

  /// Stores all cached and deferred changes.
  func flush(in transaction: inout WriteTransaction) throws {
    for entry in writers { try entry.writer.flush(in: &transaction) }
  }

  /// Stores the deferred changes of a model before its tables are read.
  ///
  /// This is safe at the start of a read although it writes. Only a previous write can have left
  /// deferred changes, and it had exclusive access to the transaction, so no memory of the
  /// transaction is borrowed.
  func flushDeferred(
    of type: ObjectIdentifier,
    in transaction: WriteTransactionReference
  ) throws {
    for entry in writers where entry.type == type {
      unsafe try entry.writer.flushDeferred(in: transaction)
    }
  }

  /// Stores the deferred changes of all models.
  func flushDeferred(in transaction: WriteTransactionReference) throws {
    for entry in writers { unsafe try entry.writer.flushDeferred(in: transaction) }
  }

  /// Whether the write has changed anything so far.
  var hasChanges: Bool {
    !mergedChanges.isEmpty || writers.contains { !$0.writer.changes.isEmpty }
  }

  /// Adds the changes of a nested write.
  ///
  /// Discards the writers, because the nested write may have changed what they have cached.
  func merge(_ child: WriteState) {
    var sum = changes
    // Release the old value, so that the storage of `sum` is unique and is not copied.
    mergedChanges = ChangesByModel()
    sum.add(child.changes)
    mergedChanges = sum
    uncheckedWriters += writers.map(\.writer).filter(\.hasUnresolvedReferences)
    writers.removeAll()
  }

  /// The changes of this write so far, without those of enclosing writes.
  var changes: ChangesByModel {
    var sum = mergedChanges
    sum.add(ChangesByModel(writers.map { ($0.writer.tables, $0.writer.changes) }))
    return sum
  }

  /// The changes of this write and of all enclosing writes so far.
  var changesFromOutermost: ChangesByModel {
    var sum = parent?.changesFromOutermost ?? ChangesByModel()
    sum.add(changes)
    return sum
  }
}
