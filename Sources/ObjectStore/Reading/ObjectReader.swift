internal import LMDB

/// What reads and writes have in common: typed reading at one snapshot.
public protocol ObjectReader: ~Copyable {
  /// The store's own side of the transaction.
  var source: ReaderSource { get }
}

/// The store's own side of a transaction, of no use outside it.
@safe  // Although it holds a reference: nothing outside the module can do anything with it.
public struct ReaderSource {
  let transaction: TransactionReference
  let schema: StoreSchema
  /// The write of which the transaction is.
  let state: WriteState?

  init(
    _ transaction: borrowing some Transaction & ~Copyable,
    _ schema: StoreSchema,
    _ state: WriteState? = nil
  ) {
    unsafe self.transaction = unsafe TransactionReference(transaction)
    self.schema = schema
    self.state = state
  }

  /// The records of the model, or `nil` when the store has never seen it.
  @usableFromInline
  func reader<M: Model>(of model: M.Type) throws -> ModelReader? {
    guard let tables = try schema.tables(of: model) else { return nil }
    try unsafe state?.flushPending(
      of: ObjectIdentifier(model),
      in: WriteTransactionReference(transaction)
    )
    return unsafe ModelReader(
      transaction: transaction,
      tables: tables,
      changedChunks: state?.changedChunks(of: ObjectIdentifier(model))
    )
  }
}

extension ObjectReader where Self: ~Copyable {
  /// The object of that primary key, or `nil`.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(log n) in the objects of the model.
  @inlinable
  public func get<M: Model>(_ model: M.Type, _ key: M.PrimaryKey) throws -> M? {
    guard let reader = unsafe try source.reader(of: model) else { return nil }
    var object: M?
    unsafe try key.withStoredBytes { bytes in
      object = unsafe try reader.find(bytes)?.decode(model)
    }
    return object
  }

  /// Whether there is an object of that primary key.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(log n) in the objects of the model.
  @inlinable
  public func contains<M: Model>(_ model: M.Type, _ key: M.PrimaryKey) throws -> Bool {
    guard let reader = unsafe try source.reader(of: model) else { return false }
    var isThere = false
    unsafe try key.withStoredBytes { bytes in
      isThere = unsafe try reader.objectID(of: bytes) != nil
    }
    return isThere
  }
}

extension ModelReader.Found {
  /// The object.
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
  /// Lends the bytes of the value, as the store has them.
  @inlinable
  @inline(__always)
  func withStoredBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    // A text's bytes are there already; the compiler drops the other branch.
    if Self.self == String.self, var text = self as? String {
      try text.withUTF8 { unsafe try body(UnsafeRawBufferPointer($0)) }
      return
    }
    var writer = ByteWriter()
    encode(to: &writer)
    unsafe try body(writer.buffer)
  }
}
