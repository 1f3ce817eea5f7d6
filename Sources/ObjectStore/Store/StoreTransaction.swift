internal import LMDB

/// A write that is under way, lent to the closure of `ObjectStore.write`.
///
/// It reads its own writes. Nothing is seen by others before the closure returns.
public struct StoreTransaction: ObjectReader, ~Copyable {
  private var transaction: WriteTransaction
  private let schema: StoreSchema

  init(transaction: consuming WriteTransaction, schema: StoreSchema) {
    self.transaction = transaction
    self.schema = schema
  }

  /// The store's own side of the transaction.
  public var source: ReaderSource { ReaderSource(transaction, schema) }

  /// Whether anything was written so far.
  ///
  /// A commit without changes is none.
  public var hasChanges: Bool { transaction.hasChanges }

  /// The number that the commit will have if there are changes; see ``ObjectStore/changeCount()``.
  public var changeCount: UInt64 { transaction.id }

  consuming func commit() throws(LMDBError) {
    try transaction.commit()
  }

  // MARK: Adding

  /// Adds the object, or replaces the one of the same primary key.
  ///
  /// Only the parts that differ are written, and only the indexes of fields that differ.
  ///
  /// - Returns: Whether the object was added.
  /// - Throws: ``StoreError`` with `full`, `damaged` or `unknownModel`; then let the write fail.
  /// - Complexity: O(log n) in the objects of the model.
  @discardableResult
  public mutating func upsert<M: Model>(_ object: M) throws -> Bool {
    if let id = unsafe try source.records(of: M.self)?.objectID(of: object.primaryKey) {
      try RecordWriter<M>(schema).replace(id, with: object, in: &transaction)
      return false
    }
    try RecordWriter<M>(schema).add(object, in: &transaction)
    return true
  }

  /// Adds the object.
  ///
  /// - Throws: ``StoreError`` with `duplicateKey` when there is one of the same primary key, and as
  ///   ``upsert(_:)``.
  /// - Complexity: O(log n) in the objects of the model.
  public mutating func insert<M: Model>(_ object: M) throws {
    guard unsafe try source.records(of: M.self)?.objectID(of: object.primaryKey) == nil else {
      throw StoreError(
        .duplicateKey,
        "there is an object of \(M.schema.name) with key \(object.primaryKey)"
      )
    }
    try RecordWriter<M>(schema).add(object, in: &transaction)
  }

  // MARK: Changing

  /// Changes the object of that primary key in place.
  ///
  /// Only the parts that differ are written, and only the indexes of fields that differ.
  ///
  /// - Returns: Whether there is such an object.
  /// - Throws: ``StoreError`` with `keyChanged` when `change` changes the primary key, and as
  ///   ``upsert(_:)``; or what `change` throws.
  /// - Complexity: O(log n) in the objects of the model.
  @discardableResult
  public mutating func update<M: Model>(
    _ model: M.Type,
    _ key: M.PrimaryKey,
    _ change: (inout M) throws -> Void
  ) throws -> Bool {
    guard let records = unsafe try source.records(of: model),
      let id = unsafe try records.objectID(of: key),
      var object = unsafe try records.object(id)
    else { return false }
    try change(&object)
    // Keys are told apart by their bytes: texts that look alike may be two.
    guard object.primaryKey.storedBytes == key.storedBytes else {
      throw StoreError(.keyChanged, "an update may not change the primary key \(key)")
    }
    try RecordWriter<M>(schema).replace(id, with: object, in: &transaction)
    return true
  }

  // MARK: Removing

  /// Removes the object of that primary key; says whether there was one.
  ///
  /// - Throws: ``StoreError`` as ``upsert(_:)``.
  /// - Complexity: O(log n) in the objects of the model.
  @discardableResult
  public mutating func delete<M: Model>(_ model: M.Type, _ key: M.PrimaryKey) throws -> Bool {
    guard let id = unsafe try source.records(of: model)?.objectID(of: key) else { return false }
    try RecordWriter<M>(schema).remove(id, in: &transaction)
    return true
  }

  /// Removes the objects of the query, and returns how many there were.
  ///
  /// - Throws: ``StoreError`` as ``upsert(_:)``.
  @discardableResult
  public mutating func delete<M: Model>(_ query: Query<M>) throws -> Int {
    let keys = try fetch(query).map(\.primaryKey)
    for key in keys { try delete(M.self, key) }
    return keys.count
  }
}
