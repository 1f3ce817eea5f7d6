internal import LMDB

/// A transaction that can read typed objects: a ``Snapshot`` or a write transaction.
///
/// A snapshot sees the store as of one commit. A write transaction also sees its own changes.
public protocol ObjectReader: ~Copyable {
  /// The module's internal handle of the transaction.
  var source: ReaderSource { get }
}

/// The module's internal handle of a transaction; it has no public members.
@safe  // It holds an unowned reference, but has no public members.
public struct ReaderSource {
  let transaction: TransactionReference
  let schema: StoreSchema
  /// The state of the write transaction; `nil` for a read transaction.
  let state: WriteState?

  init(
    _ transaction: TransactionReference,
    _ schema: StoreSchema,
    _ state: WriteState? = nil
  ) {
    unsafe self.transaction = unsafe transaction
    self.schema = schema
    self.state = state
  }

  init(_ transaction: borrowing ReadTransaction, _ schema: StoreSchema) {
    unsafe self.init(TransactionReference(transaction), schema)
  }

  /// Returns the number of the objects of a model.
  func count<M: Model>(of model: M.Type) throws -> Int {
    unsafe try reader(of: model)?.count() ?? 0
  }

  /// The number of the snapshot.
  var commitNumber: UInt64 { unsafe transaction.id }

  /// Returns the reader of a model, or `nil` when the store has no tables for it.
  ///
  /// In a write transaction, deferred changes of the model are written first.
  @usableFromInline
  func reader<M: Model>(of model: M.Type) throws -> ModelReader? {
    guard let tables = try schema.tables(of: model) else { return nil }
    try unsafe state?.flushDeferred(
      of: ObjectIdentifier(model),
      in: WriteTransactionReference(transaction)
    )
    return unsafe ModelReader(
      transaction: transaction,
      tables: tables,
      changedChunks: state?.changedChunks(of: ObjectIdentifier(model)),
      changedColumns: tables.columns.isEmpty
        ? nil : state?.changedColumns(of: ObjectIdentifier(model))
    )
  }
}

extension ObjectReader where Self: ~Copyable {
  /// Returns the object with a primary key, or `nil` when it does not exist.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(log n) in the number of objects of the model.
  @inlinable
  public func find<M: Model>(_ model: M.Type, key: M.PrimaryKey) throws -> M? {
    guard let reader = unsafe try source.reader(of: model) else { return nil }
    var object: M?
    unsafe try key.withStoredBytes { bytes in
      object = unsafe try reader.find(bytes)?.decode(model)
    }
    return object
  }

  /// Returns whether an object with a primary key exists.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(log n) in the number of objects of the model.
  @inlinable
  public func contains<M: Model>(_ model: M.Type, key: M.PrimaryKey) throws -> Bool {
    guard let reader = unsafe try source.reader(of: model) else { return false }
    var exists = false
    unsafe try key.withStoredBytes { bytes in
      exists = unsafe try reader.objectID(of: bytes) != nil
    }
    return exists
  }
}

extension ReaderSource {
  /// Calls `body` with the object that has a primary key, if there is one.
  @inlinable
  func withFound<M: Model>(
    _ model: M.Type,
    key: M.PrimaryKey,
    _ body: (borrowing ModelReader.Found) throws -> Void
  ) throws {
    guard let reader = unsafe try reader(of: model) else { return }
    try unsafe withFound(key, in: reader, body)
  }

  /// Calls `body` with each object that has one of some primary keys, in their order.
  @inlinable
  func forEachFound<M: Model>(
    _ model: M.Type,
    keys: some Sequence<M.PrimaryKey>,
    _ body: (borrowing ModelReader.Found) throws -> Void
  ) throws {
    guard let reader = unsafe try reader(of: model) else { return }
    for key in keys { try unsafe withFound(key, in: reader, body) }
  }

  /// Calls `body` with the object that has an ID and with its record.
  ///
  /// - Throws: ``StoreError`` with `damaged` if there is none; the error of `body`.
  func withObject<M: Model, R>(
    _ model: M.Type,
    id: UInt64,
    _ body: (_ record: borrowing RecordView, _ decode: () throws -> M) throws -> R
  ) throws -> R {
    guard let reader = unsafe try reader(of: model), let record = unsafe try reader.record(id)
    else {
      throw StoreError(.damaged, "object \(id) of \(M.schema.name) was written but is missing")
    }
    return try body(record) { unsafe try reader.decode(record, id) }
  }

  @unsafe
  @inlinable
  func withFound(
    _ key: some FieldValue,
    in reader: ModelReader,
    _ body: (borrowing ModelReader.Found) throws -> Void
  ) throws {
    unsafe try key.withStoredBytes { bytes in
      guard let found = unsafe try reader.find(bytes) else { return }
      try body(found)
    }
  }
}

extension ModelReader.Found {
  /// Decodes the object.
  @inlinable
  borrowing func decode<M: Model>(_ model: M.Type) throws -> M {
    do throws(RecordError) {
      return try M(from: record)
    } catch {
      throw StoreError(error, model: M.schema.name, objectID: id)
    }
  }
}

extension FieldValue {
  /// Calls `body` with the stored encoding of the value.
  @inlinable
  @inline(__always)
  func withStoredBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    // A string's UTF-8 is its stored form. The compiler removes the branch that does not apply.
    if Self.self == String.self, var text = self as? String {
      try text.withUTF8 { unsafe try body(UnsafeRawBufferPointer($0)) }
      return
    }
    var writer = ByteWriter()
    encode(to: &writer)
    unsafe try body(writer.buffer)
  }
}

extension ReaderSource {
  /// Calls `body` with the stored content of one field of each match.
  ///
  /// Reads only the record parts that the field, the condition and the order need.
  func forEachContent<M: Model>(
    _ core: ResolvedQuery,
    of model: M.Type,
    at position: Int,
    _ body: (RecordView.Content) throws -> Void
  ) throws {
    guard let reader = unsafe try reader(of: model) else { return }
    if core.order.isStored, core.takeCount == .max,
      unsafe try reader.forEachColumnContent(core, at: position, body)
    {
      return
    }
    let parts = unsafe reader.tables.parts(ofFieldsAt: [position])
    if core.node.isAlways, core.order.isStored, core.takeCount == .max {
      // Without a condition, order or limit, only the part with the column is read.
      var cancellation = CancellationCheck()
      return unsafe try reader.forEachRecord(parts: parts) { id, record in
        try cancellation.step()
        unsafe try body(content(of: record, id, model, position))
        return true
      }
    }
    var executor = unsafe try QueryExecutor(reader, core)
    unsafe try executor.forEach(requested: parts) { id, record in
      unsafe try body(content(of: record, id, model, position))
      return true
    }
  }

  private func content<M: Model>(
    of record: borrowing RecordView,
    _ id: UInt64,
    _ model: M.Type,
    _ position: Int
  ) throws -> RecordView.Content {
    do throws(RecordError) {
      return unsafe try record.content(at: position)
    } catch {
      throw StoreError(error, model: M.schema.name, objectID: id)
    }
  }
}

extension ReaderSource {
  /// Calls `body` with the stored key of each reference in a field of each match.
  func forEachReferenceKey<M: Model>(
    _ core: ResolvedQuery,
    of model: M.Type,
    at position: Int,
    type: FieldType,
    isCollection: Bool,
    _ body: ([UInt8]) -> Void
  ) throws {
    unsafe try forEachContent(core, of: model, at: position) { content in
      do {
        unsafe try StoredReferences.forEachKey(
          in: content,
          type: type,
          isCollection: isCollection
        ) { unsafe body(Array($0)) }
      } catch let error as RecordError {
        throw StoreError(
          .damaged,
          "\(M.schema.fields[position].name) of an object of \(M.schema.name) is damaged",
          cause: error
        )
      }
    }
  }
}
