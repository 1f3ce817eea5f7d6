internal import LMDB

/// What a write that is under way knows of its models: a writer for each that it has touched.
final class WriteState {
  let schema: StoreSchema
  /// The state of the write around this one, if it is nested.
  private let parent: WriteState?
  private var writers: [(type: ObjectIdentifier, writer: ModelWriter)] = []
  /// What has changed up to the end of the last nested write.
  private var joined = ChangesByModel()

  init(_ schema: StoreSchema, parent: WriteState? = nil) {
    self.schema = schema
    self.parent = parent
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
    for entry in writers {
      try entry.writer.hot.flush(in: &transaction)
      unsafe try entry.writer.flushPending(in: WriteTransactionReference(transaction))
    }
  }

  /// Stores what readers of a model must find in its tables.
  ///
  /// Called where a read begins: nothing is borrowed from the transaction then that a write could
  /// move, since a write before it, which alone leaves something to store, had the transaction to
  /// itself.
  func flushPending(
    of type: ObjectIdentifier,
    in transaction: WriteTransactionReference
  ) throws {
    for entry in writers where entry.type == type {
      unsafe try entry.writer.flushPending(in: transaction)
    }
  }

  func flushPending(in transaction: WriteTransactionReference) throws {
    for entry in writers { unsafe try entry.writer.flushPending(in: transaction) }
  }

  /// Whether anything was written so far.
  var hasChanges: Bool {
    !joined.isEmpty || writers.contains { !$0.writer.changes.isEmpty }
  }

  /// Takes over what a nested write has changed, and forgets what was known before it.
  func join(_ child: WriteState) {
    var sum = changes
    // Nothing else refers to the sum now, so it grows in place.
    joined = ChangesByModel()
    sum.add(child.changes)
    joined = sum
    writers.removeAll()
  }

  /// What the write has changed so far, without the writes around it.
  var changes: ChangesByModel {
    var sum = joined
    sum.add(ChangesByModel(writers.map { ($0.writer.tables, $0.writer.changes) }))
    return sum
  }

  /// ``changes`` together with those of the writes around it.
  var changesFromOutermost: ChangesByModel {
    var sum = parent?.changesFromOutermost ?? ChangesByModel()
    sum.add(changes)
    return sum
  }
}
