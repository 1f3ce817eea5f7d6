internal import LMDB

/// A write transaction, passed to the closure of `Store.write`.
///
/// It reads its own writes. Other readers see them after the commit.
public struct StoreTransaction: ObjectReader, ~Copyable {
  var transaction: WriteTransaction
  let state: WriteState

  init(transaction: consuming WriteTransaction, state: WriteState) {
    self.transaction = transaction
    self.state = state
  }

  /// The source of reads in this transaction, for internal use.
  public var source: ReaderSource {
    unsafe ReaderSource(TransactionReference(transaction), state.schema, state)
  }

  /// Whether the transaction has changed anything so far.
  ///
  /// A transaction without changes ends without a commit.
  public var hasChanges: Bool { transaction.hasChanges || state.hasChanges }

  /// The number that the commit will have if the transaction changes anything; see
  /// ``Store/commitNumber()``.
  public var commitNumber: UInt64 { transaction.id }

  // MARK: Inserting

  /// Inserts the object, or replaces the stored object with its primary key.
  ///
  /// Only writes the parts of the record that differ and the indexes of changed fields. Also
  /// replaces an object that a ``MigrationStep`` with the mode `whenRead` rejects.
  ///
  /// - Returns: Whether the object was inserted.
  /// - Throws: ``StoreError`` with `duplicateKey` (another object has the same values in a unique
  ///   index), `mapFull`, `damaged` or `unknownModel`. After `mapFull` or `damaged`, rethrow the
  ///   error so that the transaction is rolled back.
  /// - Complexity: O(log n) in the objects of the model.
  @discardableResult
  @inlinable
  public mutating func upsert<M: Model>(_ object: M) throws -> Bool {
    let writer = try writer(for: M.self)
    writer.encoder.start()
    object.encode(to: &writer.encoder)
    return try upsert(writer)
  }

  /// Inserts the object.
  ///
  /// - Throws: ``StoreError`` with `duplicateKey` if an object with the same primary key exists,
  ///   and as ``upsert(_:)``.
  /// - Complexity: O(log n) in the objects of the model.
  @inlinable
  public mutating func insert<M: Model>(_ object: M) throws {
    let writer = try writer(for: M.self)
    writer.encoder.start()
    object.encode(to: &writer.encoder)
    guard try insert(writer) else { throw Self.duplicate(object) }
  }

  // MARK: Updating

  /// Updates the object with this primary key.
  ///
  /// Only writes the parts of the record that differ and the indexes of changed fields.
  ///
  /// ```swift
  /// try tx.update(Note.self, key: 1) { note in note.text = "bread" }
  /// ```
  ///
  /// - Returns: Whether the object exists.
  /// - Throws: ``StoreError`` with `keyChanged` if `change` changes the primary key, and as
  ///   ``upsert(_:)``; any error that `change` throws.
  /// - Complexity: O(log n) in the objects of the model.
  @discardableResult
  @inlinable
  public mutating func update<M: Model>(
    _ model: M.Type,
    key: M.PrimaryKey,
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

  // MARK: Deleting

  /// Deletes the object with this primary key.
  ///
  /// Applies no step of a migration, so an object that a step rejects can be deleted.
  ///
  /// - Returns: Whether the object existed.
  /// - Throws: ``StoreError`` with `referenced` if a reference with ``DeleteRule/deny`` refers to
  ///   the object; `migrationFailed` if a reference with ``DeleteRule/nullify`` does, in an object
  ///   that a step rejects; and as ``upsert(_:)``. Nothing is deleted then.
  /// - Complexity: O(log n) in the objects of the model.
  @discardableResult
  @inlinable
  public mutating func delete<M: Model>(_ model: M.Type, key: M.PrimaryKey) throws -> Bool {
    let writer = try writer(for: M.self)
    var isFound = false
    unsafe try key.withStoredBytes { bytes in
      guard let found = unsafe try findStored(writer, bytes) else { return }
      isFound = true
      try remove(found, writer)
    }
    return isFound
  }

  @usableFromInline
  static func duplicate<M: Model>(_ object: M) -> StoreError {
    StoreError(
      .duplicateKey,
      "an object of \(M.schema.name) with the primary key \(object.primaryKey) already exists"
    )
  }

  // MARK: Non-generic implementation

  @usableFromInline
  func writer<M: Model>(for model: M.Type) throws -> ModelWriter {
    try state.writer(for: model)
  }

  /// Returns whether an object with this key exists.
  func hasObject(_ writer: ModelWriter, key: some FieldValue) throws -> Bool {
    var exists = false
    unsafe try key.withStoredBytes { exists = unsafe try find(writer, $0) != nil }
    return exists
  }

  @unsafe
  @usableFromInline
  func find(
    _ writer: ModelWriter,
    _ key: UnsafeRawBufferPointer
  ) throws -> ModelReader.Found? {
    unsafe try writer.find(key, in: transaction)
  }

  /// Returns the object with this key as it is stored, without applying a step of a migration.
  @unsafe
  @usableFromInline
  func findStored(
    _ writer: ModelWriter,
    _ key: UnsafeRawBufferPointer
  ) throws -> ModelReader.Found? {
    unsafe try writer.find(key, as: .stored, in: transaction)
  }

  /// Inserts the record in the encoder, or replaces the stored record with its primary key.
  @usableFromInline
  mutating func upsert(_ writer: ModelWriter) throws -> Bool {
    let hash = unsafe writer.hash(of: try writer.encodedKey)
    let key = unsafe try writer.encodedKey
    if let found = unsafe try writer.find(
      key,
      hash: hash,
      as: .convertedIfPossible,
      in: transaction
    ) {
      try writer.replace(found, in: &transaction)
      return false
    }
    try writer.add(keyHash: hash, in: &transaction)
    return true
  }

  /// Inserts the record in the encoder, or returns false if its primary key is already in the
  /// store.
  @usableFromInline
  mutating func insert(_ writer: ModelWriter) throws -> Bool {
    let hash = unsafe writer.hash(of: try writer.encodedKey)
    let key = unsafe try writer.encodedKey
    guard unsafe try writer.find(key, hash: hash, as: .stored, in: transaction) == nil else {
      return false
    }
    try writer.add(keyHash: hash, in: &transaction)
    return true
  }

  /// Replaces a stored record with the one in the encoder, which must have the same primary key.
  @usableFromInline
  mutating func replace(
    _ found: borrowing ModelReader.Found,
    _ writer: ModelWriter
  ) throws {
    guard try writer.keepsKey(of: found) else {
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

extension StoreTransaction {
  /// Deletes the objects that match the query.
  ///
  /// Also deletes objects that a ``MigrationStep`` with the mode `whenRead` rejects, if neither the
  /// condition nor the order of the query reads a field that the step changes.
  ///
  /// - Returns: The number of deleted objects.
  /// - Throws: ``StoreError`` as ``delete(_:key:)``; `migrationFailed` if the query must read a field
  ///   of an object that a step rejects.
  /// - Complexity: As ``ObjectReader/forEach(_:_:)-(Query<M>,_)``, and O(log n) for each object.
  ///   Uses memory for their primary keys.
  @discardableResult
  public mutating func delete<M: Model>(_ query: Query<M>) throws -> Int {
    let keys = try storedKeys(of: query)
    for key in keys { try delete(M.self, key: key) }
    return keys.count
  }

  /// Updates the objects that match the query.
  ///
  /// The query is evaluated once, before the first object is changed.
  ///
  /// - Returns: The number of matching objects.
  /// - Throws: ``StoreError`` with `keyChanged` if `change` changes a primary key, and as
  ///   ``upsert(_:)``; any error that `change` throws.
  /// - Complexity: As ``ObjectReader/forEach(_:_:)-(Query<M>,_)``, and O(log n) for each object.
  ///   Uses memory for their primary keys.
  @discardableResult
  public mutating func update<M: Model>(
    _ query: Query<M>,
    _ change: (inout M) throws -> Void
  ) throws -> Int {
    let keys = try keys(of: query)
    for key in keys { try update(M.self, key: key, change) }
    return keys.count
  }

  /// Returns the primary keys of the objects that match the query.
  private func keys<M: Model>(of query: Query<M>) throws -> [M.PrimaryKey] {
    var keys: [M.PrimaryKey] = []
    try forEach(query) { object in
      keys.append(object.primaryKey)
      return true
    }
    return keys
  }

  /// Returns the primary keys of the objects that match the query, without decoding the objects.
  ///
  /// Applies no step of a migration unless the query reads a field that a step changes.
  private func storedKeys<M: Model>(of query: Query<M>) throws -> [M.PrimaryKey] {
    guard query.sortOrder != nil else { return try keys(of: query) }
    guard let reader = unsafe try source.reader(of: M.self) else { return [] }
    let core = try ResolvedQuery(query, in: source)
    let tables = unsafe reader.tables
    let readsChangedField = core.positions.contains { tables.isChangedByStep(fieldAt: $0) }
    var executor = unsafe try QueryExecutor(readsChangedField ? reader : reader.asStored, core)
    var keys: [M.PrimaryKey] = []
    unsafe try executor.forEach(requested: .cold) { id, record in
      do throws(RecordError) {
        keys.append(try record.value(at: tables.primaryKeyPosition))
      } catch {
        throw StoreError(error, model: tables.name, objectID: id)
      }
      return true
    }
    return keys
  }
}

extension StoreTransaction {
  /// Runs `body` in a nested transaction.
  ///
  /// If it throws, only its own writes are rolled back.
  ///
  /// ```swift
  /// try store.write { tx in
  ///   try tx.insert(order)
  ///   do {
  ///     try tx.nested { tx in for line in lines { try tx.insert(line) } }
  ///   } catch let error as StoreError where error.code == .duplicateKey {
  ///     // The order stays, without any of its lines.
  ///   }
  /// }
  /// ```
  ///
  /// Nested writes become visible and durable with the outermost write. They can be nested to any
  /// depth. A nested transaction costs some microseconds and a copy of each page that both
  /// transactions change. The corresponding C function is `mdb_txn_begin` with a parent.
  ///
  /// - Throws: Any error that `body` throws; ``StoreError`` with `other` if `body` returns although
  ///   one of its writes failed because the map was full or the file was damaged. The nested write
  ///   is then rolled back.
  public mutating func nested<R>(
    _ body: (inout StoreTransaction) throws -> R
  ) throws -> R {
    // The nested write reads and changes the tables, so deferred changes must be stored first.
    try state.flush(in: &transaction)
    let child = WriteState(state.schema, parent: state)
    let result = try translating("a nested write") {
      try transaction.nested { raw in
        var nested = StoreTransaction(transaction: raw, state: child)
        let result = Result {
          let result = try body(&nested)
          try child.flush(in: &nested.transaction)
          try child.finishReferences(in: nested.transaction)
          return result
        }
        raw = nested.ended()
        return try result.get()
      }
    }
    state.merge(child)
    return result
  }

  private consuming func ended() -> WriteTransaction { transaction }
}
