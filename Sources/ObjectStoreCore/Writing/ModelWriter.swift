package import LMDB

/// Writes the records, key table and indexes of one model in one transaction.
///
/// It is not generic. Generic code only fills the encoder.
@usableFromInline
package final class ModelWriter {
  let tables: ModelTables
  let hot: HotCache
  /// The caches of the columns; `nil` if the model has none.
  let columns: ColumnCaches?
  let current: LayoutBinding
  let metadata: Metadata

  @usableFromInline let encoderStorage: UncheckedStorage<RecordEncoder>
  @usableFromInline let editsStorage = UncheckedStorage(FieldEdits())
  let work: UncheckedStorage<Work>
  let deferred: [DeferredIndex]
  /// Computes a compound primary key; `nil` for another key, and if the model's type is not known.
  let computedKey: ComputedKey?

  /// The state that changes with every record.
  @safe  // The record writer must not outlive the transaction; every batch ends before it does.
  struct Work: ~Copyable {
    var ids: IDSequence
    var keys: KeyTable
    /// In a model that is stored by key: the last hash whose id was found free.
    var freeHash: UInt64?
    var entries = IndexEntries()
    var changes = ChangeLog()
    var references: ReferenceCheck
    /// Writes the records of a batch; see ``ModelWriter/endBatch()``.
    var recordWriter: OrderedWriter?
  }

  /// The encoder of the record to write.
  @inlinable
  package var encoder: RecordEncoder {
    @inline(__always)
    _read { yield encoderStorage.value }
    @inline(__always)
    _modify { yield &encoderStorage.value }
  }

  /// The fields to set in one object.
  @inlinable
  var edits: FieldEdits {
    @inline(__always)
    _read { yield editsStorage.value }
    @inline(__always)
    _modify { yield &editsStorage.value }
  }

  /// The changes of the write so far.
  var changes: ChangeLog { work.value.changes }

  /// Creates a writer that checks the model's references.
  convenience init(
    _ tables: ModelTables,
    current: LayoutBinding,
    schema: StoreSchema,
    computedKey: ComputedKey? = nil
  ) {
    self.init(
      tables,
      current: current,
      metadata: schema.metadata,
      references: ReferenceCheck(schema.references.checked(of: tables.name)),
      computedKey: computedKey
    )
  }

  package init(
    _ tables: ModelTables,
    current: LayoutBinding,
    metadata: Metadata,
    references: ReferenceCheck = ReferenceCheck([]),
    computedKey: ComputedKey? = nil
  ) {
    self.tables = tables
    self.current = current
    self.metadata = metadata
    self.computedKey = computedKey
    hot = HotCache(tables)
    columns = ColumnCaches(tables)
    encoderStorage = UncheckedStorage(RecordEncoder(current))
    work = unsafe UncheckedStorage(
      Work(
        ids: IDSequence(tables: tables, metadata: metadata),
        keys: KeyTable(tables),
        references: references
      )
    )
    deferred = tables.maintainedIndexes.map { DeferredIndex($0) }
  }

  func reader(
    in transaction: borrowing WriteTransaction,
    as form: OutdatedForm = .converted
  ) -> ModelReader {
    unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: tables,
      changedChunks: hot,
      changedColumns: columns,
      outdatedForm: form
    )
  }

  /// Returns the object whose primary key has these bytes.
  package func find(
    _ key: UnsafeRawBufferPointer,
    parts: RecordParts = .all,
    as form: OutdatedForm = .converted,
    in transaction: borrowing WriteTransaction
  ) throws -> ModelReader.Found? {
    unsafe try find(key, hash: hash(of: key), parts: parts, as: form, in: transaction)
  }

  /// Returns the object whose primary key has these bytes and this hash.
  func find(
    _ key: UnsafeRawBufferPointer,
    hash: UInt64,
    parts: RecordParts = .all,
    as form: OutdatedForm = .converted,
    in transaction: borrowing WriteTransaction
  ) throws -> ModelReader.Found? {
    guard tables.storage == .sequential else {
      return unsafe try findByKey(key, hash: hash, as: form, in: transaction)
    }
    let reader = unsafe reader(in: transaction, as: form)
    switch unsafe try work.value.keys.ids(withHash: hash, in: reader) {
    case .notFound: return nil
    case .deferred(let id): return unsafe try reader.found(id, ifKeyIs: key, parts: parts)
    case .stored(let ids): return unsafe try reader.find(key, among: ids, parts: parts)
    }
  }

  /// Returns the id of the first object whose primary key has this hash, or 0 if there is none.
  ///
  /// - Precondition: The model has sequential ids.
  func firstID(withHash hash: UInt64, in transaction: borrowing WriteTransaction) throws -> UInt64 {
    switch unsafe try work.value.keys.ids(withHash: hash, in: reader(in: transaction)) {
    case .notFound: return 0
    case .deferred(let id): return id
    case .stored(let ids):
      return unsafe ids.isEmpty
        ? 0 : UInt64(littleEndian: ids.loadUnaligned(as: UInt64.self))
    }
  }

  @usableFromInline
  func hash(of key: UnsafeRawBufferPointer) -> UInt64 {
    unsafe XXHash64.hash(key, seed: tables.hashSeed)
  }

  /// Stores deferred keys, index entries and new hot chunks, so that table and index scans find
  /// them.
  func flushDeferred(in transaction: WriteTransactionReference) throws {
    unsafe try work.value.keys.flush(in: transaction)
    for index in deferred { unsafe try index.flush(in: transaction) }
    unsafe try hot.flushNew(in: transaction)
    if let columns { unsafe try columns.flushNew(in: transaction) }
  }

  /// Stores everything that the writer has cached or deferred.
  package func flush(in transaction: inout WriteTransaction) throws {
    try hot.flush(in: &transaction)
    if let columns { unsafe try columns.flush(in: WriteTransactionReference(transaction)) }
    unsafe try flushDeferred(in: WriteTransactionReference(transaction))
  }

  /// The primary key of the record in the encoder, valid until the encoder starts the next record.
  @unsafe package var encodedKey: UnsafeRawBufferPointer {
    get throws {
      guard
        case .present(let key) = unsafe try encodedRecord.content(at: tables.primaryKeyPosition)
      else { preconditionFailure("the model \(tables.name) does not encode its primary key") }
      return unsafe key
    }
  }

  @unsafe var encodedRecord: RecordView {
    unsafe RecordView(
      checkedCold: encoder.cold.buffer,
      hot: encoder.hot.buffer,
      // An index may include fields that this program does not declare.
      hasExtras: encoder.hasExtras,
      layout: current.reference
    )
  }

  // MARK: Adding, replacing and removing

  /// Adds the record in the encoder.
  ///
  /// - Parameters:
  ///   - id: The object's id if it is greater than every id of the model; otherwise the object gets
  ///     the next id. Ignored in a model that is stored by key.
  ///   - transaction: The transaction.
  /// - Throws: ``StoreError`` with `duplicateKey` if it violates a unique index, or `damaged`.
  /// - Precondition: No object has its primary key.
  package func add(preferring id: UInt64 = 0, in transaction: inout WriteTransaction) throws {
    if tables.storage == .sequential { try work.value.ids.skip(to: id, in: transaction) }
    unsafe try add(keyHash: hash(of: try encodedKey), in: &transaction)
  }

  /// Adds the record in the encoder as part of a batch.
  ///
  /// The cursor at the end of the records is kept for the next one. Call ``endBatch()`` before any
  /// other write to the records, and before the transaction ends.
  ///
  /// - Precondition: No primary key in the store has this hash.
  func append(unlistedHash hash: UInt64, in transaction: inout WriteTransaction) throws {
    try beginBatch(in: transaction)
    work.value.keys.noteAbsent(hash)
    try add(keyHash: hash, in: &transaction)
  }

  /// Opens the cursor that writes the records of a batch, unless it is open.
  func beginBatch(in transaction: borrowing WriteTransaction) throws {
    if unsafe work.value.recordWriter == nil {
      unsafe work.value.recordWriter = unsafe try OrderedWriter(
        tables.records,
        in: WriteTransactionReference(transaction)
      )
    }
  }

  /// Ends a batch.
  @usableFromInline
  func endBatch() {
    unsafe work.value.recordWriter = nil
  }

  /// Adds the record in the encoder, whose primary key has this hash.
  ///
  /// - Parameters:
  ///   - keyHash: The hash of its primary key.
  ///   - extras: The encoded fields that its layout does not have.
  ///   - transaction: The transaction.
  /// - Throws: ``StoreError`` as ``add(preferring:in:)``.
  /// - Precondition: No object has its primary key.
  func add(
    keyHash: UInt64,
    extras: [UInt8] = [],
    in transaction: inout WriteTransaction
  ) throws {
    encoder.finish(extras: extras)
    let id = try newID(keyHash: keyHash, in: transaction)
    work.value.entries.removeAll()
    for (number, index) in tables.maintainedIndexes.enumerated() {
      try translating(id) { () throws(RecordError) in
        unsafe try work.value.entries.add(encodedRecord, id, in: index, number)
      }
    }
    try checkUniqueness(in: transaction)
    encoder.seal(objectID: id)
    if tables.needsKeyEntry(id, withHash: keyHash) {
      try work.value.keys.add(id, withHash: keyHash, in: &transaction)
    }
    try putNewRecord(id, in: &transaction)
    if current.hasHotFields { try putHotPart(of: id, in: &transaction) }
    if let columns { try columns.set(unsafe encodedRecord, id, in: &transaction) }
    try writeEntries(in: &transaction)
    if tables.storage == .sequential { work.value.ids.didUse(id) }
    work.value.changes.append(id, .inserted)
    try checkReferences(of: id, fields: .max, in: transaction)
  }

  private func newID(
    keyHash: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> UInt64 {
    switch tables.storage {
    case .sequential: try work.value.ids.next(in: transaction)
    case .byKey: try keyedID(forNewHash: keyHash, in: transaction)
    }
  }

  /// Stores the cold part in the encoder, which is sealed.
  private func putRecord(_ id: UInt64, in transaction: inout WriteTransaction) throws {
    try unsafe withUnsafeBytes(of: id) { key in
      guard unsafe work.value.recordWriter != nil else {
        return unsafe try transaction.put(encoder.cold.buffer, for: key, in: tables.records)
      }
      unsafe try work.value.recordWriter?.put(encoder.cold.buffer, for: key)
    }
  }

  /// Stores the cold part in the encoder, which is sealed, under a new id.
  private func putNewRecord(_ id: UInt64, in transaction: inout WriteTransaction) throws {
    guard tables.storage == .sequential else { return try putRecord(id, in: &transaction) }
    try unsafe withUnsafeBytes(of: id) { key in
      // A new sequential id is greater than all others, so the record is appended without a search.
      let isLast =
        unsafe try work.value.recordWriter?.append(encoder.cold.buffer, for: key)
        ?? transaction.append(encoder.cold.buffer, for: key, in: tables.records)
      guard isLast else {
        throw StoreError(.damaged, "the new object \(id) of \(tables.name) already exists")
      }
    }
  }

  /// Replaces a stored record with the one in the encoder.
  ///
  /// Only writes the parts that differ. The stored record may be one that a step rejects, in its
  /// stored form.
  ///
  /// - Returns: Whether the records differ.
  @discardableResult
  func replace(
    _ old: borrowing ModelReader.Found,
    in transaction: inout WriteTransaction
  ) throws -> Bool {
    let id = old.id
    let extras = try translating(id) { () throws(RecordError) in
      try old.record.encodedUnknownFields()
    }
    encoder.finish(extras: extras)
    let isSameLayout = unsafe old.record.binding === current
    let isColdSame =
      unsafe isSameLayout && old.record.cold.isSame(as: encoder.cold.buffer, from: 4)
    let isHotSame = unsafe isSameLayout && old.record.hot.isSame(as: encoder.hot.buffer)
    if isColdSame, isHotSame { return false }
    var fields = try translating(id) { () throws(RecordError) in
      unsafe try RecordView.changedFields(
        from: old.record,
        to: encodedRecord,
        count: current.places.count
      )
    }
    if !isSameLayout, let conversion = unsafe old.record.binding.conversion {
      fields |= conversion.changedFields
    }
    work.value.entries.removeAll()
    for (number, index) in tables.maintainedIndexes.enumerated() where index.depends(on: fields) {
      try translating(id) { () throws(RecordError) in
        unsafe try work.value.entries.replace(
          old.record,
          with: encodedRecord,
          id,
          in: index,
          number
        )
      }
    }
    try checkUniqueness(in: transaction)
    // The writes below may invalidate the old record's bytes.
    let hadHotPart = unsafe old.record.binding.hasHotFields
    try writeEntries(in: &transaction)
    if !isColdSame {
      encoder.seal(objectID: id)
      try putRecord(id, in: &transaction)
    }
    if current.hasHotFields {
      if !isHotSame { try putHotPart(of: id, in: &transaction) }
    } else if hadHotPart {
      try hot.remove(id, in: &transaction)
    }
    if let columns {
      try columns.set(unsafe encodedRecord, id, fields: fields, in: &transaction)
    }
    work.value.changes.append(id, .updated, fields: fields)
    try checkReferences(of: id, fields: fields, in: transaction)
    return true
  }

  /// Removes a record with its hot part, key and index entries.
  ///
  /// The stored form of an outdated record is enough: no index in use has a field that a step
  /// changes.
  func remove(
    _ old: borrowing ModelReader.Found,
    in transaction: inout WriteTransaction
  ) throws {
    let id = old.id
    work.value.entries.removeAll()
    for (number, index) in tables.maintainedIndexes.enumerated() {
      try translating(id) { () throws(RecordError) in
        try work.value.entries.remove(old.record, id, in: index, number)
      }
    }
    let (key, hash) = try translating(id) { () throws(RecordError) in
      guard case .present(let key) = unsafe try old.record.content(at: tables.primaryKeyPosition)
      else { throw RecordError(.missingField) }
      return unsafe (Array(key), self.hash(of: key))
    }
    let hadHotPart = unsafe old.record.binding.hasHotFields
    if tables.storage == .sequential { try work.value.ids.willRemove(id, in: &transaction) }
    try writeEntries(in: &transaction)
    try removeValue(of: id, in: tables.records, &transaction)
    if hadHotPart { try hot.remove(id, in: &transaction) }
    if let columns { try columns.remove(id, in: &transaction) }
    if tables.needsKeyEntry(id, withHash: hash) {
      try work.value.keys.remove(id, withHash: hash, in: &transaction)
    }
    work.value.changes.appendRemoval(of: id, key: key)
  }

  func translating<R>(
    _ id: UInt64,
    _ body: () throws(RecordError) -> R
  ) throws -> R {
    do throws(RecordError) {
      return try body()
    } catch {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }
}
