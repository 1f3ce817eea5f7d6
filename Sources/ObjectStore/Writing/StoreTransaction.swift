internal import LMDB

/// A write that is under way, lent to the closure of `ObjectStore.write`.
///
/// It reads its own writes. Nothing is seen by others before the closure returns.
public struct StoreTransaction: ObjectReader, ~Copyable {
  var transaction: WriteTransaction
  let state: WriteState

  init(transaction: consuming WriteTransaction, state: WriteState) {
    self.transaction = transaction
    self.state = state
  }

  /// The store's own side of the transaction.
  public var source: ReaderSource { ReaderSource(transaction, state.schema, state) }

  /// Whether anything was written so far.
  ///
  /// A commit without changes is none.
  public var hasChanges: Bool { transaction.hasChanges || state.hasChanges }

  /// The number that the commit will have if there are changes; see ``ObjectStore/changeCount()``.
  public var changeCount: UInt64 { transaction.id }

  // MARK: Adding

  /// Adds the object, or replaces the one of the same primary key.
  ///
  /// Only the parts that differ are written, and only the indexes of fields that differ.
  ///
  /// - Returns: Whether the object was added.
  /// - Throws: ``StoreError`` with `duplicateKey` (a unique index), `full`, `damaged` or
  ///   `unknownModel`; after `full` and `damaged` let the write fail.
  /// - Complexity: O(log n) in the objects of the model.
  @discardableResult
  @inlinable
  public mutating func upsert<M: Model>(_ object: M) throws -> Bool {
    let writer = try writer(for: M.self)
    writer.encoder.start()
    object.encode(to: &writer.encoder)
    return try upsert(writer)
  }

  /// Adds the object.
  ///
  /// - Throws: ``StoreError`` with `duplicateKey` when there is one of the same primary key, and as
  ///   ``upsert(_:)``.
  /// - Complexity: O(log n) in the objects of the model.
  @inlinable
  public mutating func insert<M: Model>(_ object: M) throws {
    let writer = try writer(for: M.self)
    writer.encoder.start()
    object.encode(to: &writer.encoder)
    guard try insert(writer) else { throw Self.duplicate(object) }
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
  @inlinable
  public mutating func update<M: Model>(
    _ model: M.Type,
    _ key: M.PrimaryKey,
    _ change: (inout M) throws -> Void
  ) throws -> Bool {
    let writer = try writer(for: M.self)
    var isFound = false
    unsafe try key.withStoredBytes { bytes in
      guard let found = unsafe try find(writer, bytes) else { return }
      isFound = true
      var object = try found.decode(M.self)
      try change(&object)
      writer.encoder.start()
      object.encode(to: &writer.encoder)
      try replace(found, writer)
    }
    return isFound
  }

  // MARK: Removing

  /// Removes the object of that primary key; says whether there was one.
  ///
  /// - Throws: ``StoreError`` as ``upsert(_:)``.
  /// - Complexity: O(log n) in the objects of the model.
  @discardableResult
  @inlinable
  public mutating func delete<M: Model>(_ model: M.Type, _ key: M.PrimaryKey) throws -> Bool {
    let writer = try writer(for: M.self)
    var isFound = false
    unsafe try key.withStoredBytes { bytes in
      guard let found = unsafe try find(writer, bytes) else { return }
      isFound = true
      try remove(found, writer)
    }
    return isFound
  }

  @usableFromInline
  static func duplicate<M: Model>(_ object: M) -> StoreError {
    StoreError(
      .duplicateKey,
      "there is an object of \(M.schema.name) with key \(object.primaryKey)"
    )
  }

  // MARK: Without the model's type

  @usableFromInline
  func writer<M: Model>(for model: M.Type) throws -> ModelWriter {
    try state.writer(for: model)
  }

  @unsafe
  @usableFromInline
  func find(
    _ writer: ModelWriter,
    _ key: UnsafeRawBufferPointer
  ) throws -> ModelReader.Found? {
    unsafe try writer.find(key, in: transaction)
  }

  /// Adds the record in the encoder, or writes it over the one of its primary key.
  @usableFromInline
  mutating func upsert(_ writer: ModelWriter) throws -> Bool {
    let hash = unsafe writer.hash(of: try writer.encodedKey)
    if let found = unsafe try writer.find(try writer.encodedKey, hash: hash, in: transaction) {
      try writer.replace(found, in: &transaction)
      return false
    }
    try writer.add(keyHash: hash, in: &transaction)
    return true
  }

  /// Adds the record in the encoder unless there is one of its primary key.
  @usableFromInline
  mutating func insert(_ writer: ModelWriter) throws -> Bool {
    let hash = unsafe writer.hash(of: try writer.encodedKey)
    guard unsafe try writer.find(try writer.encodedKey, hash: hash, in: transaction) == nil else {
      return false
    }
    try writer.add(keyHash: hash, in: &transaction)
    return true
  }

  /// Writes the record in the encoder over one that must have the same primary key.
  @usableFromInline
  mutating func replace(
    _ found: borrowing ModelReader.Found,
    _ writer: ModelWriter
  ) throws {
    let position = writer.tables.primaryKeyPosition
    // Keys are told apart by their bytes: texts that look alike may be two.
    guard
      case .present(let key) = unsafe try found.record.content(at: position),
      unsafe key.isSame(as: try writer.encodedKey)
    else {
      throw StoreError(
        .keyChanged,
        "an update may not change the primary key of \(writer.tables.name)"
      )
    }
    try writer.replace(found, in: &transaction)
  }

  @usableFromInline
  mutating func remove(
    _ found: borrowing ModelReader.Found,
    _ writer: ModelWriter
  ) throws {
    guard !state.schema.references.incoming(to: writer.tables.name).isEmpty else {
      return try writer.remove(found, in: &transaction)
    }
    try Deletion(of: found.id, writer, state, in: transaction).run(in: &transaction)
  }
}

extension StoreTransaction {
  consuming func commit(_ durability: Durability) throws {
    try state.flush(in: &transaction)
    try state.finishReferences(in: transaction)
    try transaction.commit(durability.sync)
  }
}
