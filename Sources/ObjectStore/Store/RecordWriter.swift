internal import LMDB

/// Writes the records of one model, with its key table and its indexes.
struct RecordWriter<M: Model> {
  private let schema: StoreSchema
  private let tables: ModelTables
  private let current: LayoutBinding

  init(_ schema: StoreSchema) throws {
    self.schema = schema
    guard let tables = try schema.tables(of: M.self), let current = tables.current else {
      throw StoreError(.permissionDenied, "the store is open for reading only")
    }
    self.tables = tables
    self.current = current
  }

  // MARK: The three writes

  func add(_ object: M, in transaction: inout WriteTransaction) throws {
    let id = try nextID(in: transaction)
    let record = encode(object, id: id, extras: [])
    try put(record.cold, id, in: tables.records, &transaction)
    if let hot = record.hot { try put(hot, id, in: tables.hot, &transaction) }
    try addKey(of: object.primaryKey, id, in: &transaction)
    let entries = try withView(of: record, id) { try indexEntries($0, id) }
    for (index, keys) in zip(tables.indexes, entries) {
      for key in keys { try transaction.put(key.span, in: index.database) }
    }
  }

  func replace(_ id: UInt64, with object: M, in transaction: inout WriteTransaction) throws {
    let old = try stored(id, in: transaction)
    let record = encode(object, id: id, extras: old.extras)
    let entries = try withView(of: record, id) { try indexEntries($0, id) }
    for ((index, before), after) in zip(zip(tables.indexes, old.indexEntries), entries)
    where before != after {
      for key in before where !after.contains(key) {
        try transaction.delete(key.span, in: index.database)
      }
      for key in after where !before.contains(key) {
        try transaction.put(key.span, in: index.database)
      }
    }
    if record.cold != old.cold { try put(record.cold, id, in: tables.records, &transaction) }
    if let hot = record.hot {
      if hot != old.hot { try put(hot, id, in: tables.hot, &transaction) }
    } else if old.hot != nil {
      try removeValue(of: id, in: tables.hot, &transaction)
    }
  }

  func remove(_ id: UInt64, in transaction: inout WriteTransaction) throws {
    let old = try stored(id, in: transaction)
    for (index, keys) in zip(tables.indexes, old.indexEntries) {
      for key in keys { try transaction.delete(key.span, in: index.database) }
    }
    try noteRemoval(of: id, in: &transaction)
    try removeValue(of: id, in: tables.records, &transaction)
    if old.hot != nil { try removeValue(of: id, in: tables.hot, &transaction) }
    try removeKey(withHash: old.keyHash, id, in: &transaction)
  }

  // MARK: Records

  private struct Encoded {
    var cold: [UInt8]
    var hot: [UInt8]?
  }

  /// A record as it was before the write, copied: the map changes under a write.
  private struct Stored {
    var cold: [UInt8]
    var hot: [UInt8]?
    var extras: [UInt8]
    var indexEntries: [[[UInt8]]]
    var keyHash: UInt64
  }

  private func encode(_ object: M, id: UInt64, extras: [UInt8]) -> Encoded {
    var encoder = RecordEncoder(layout: current.layout, layoutNumber: current.number)
    object.encode(to: &encoder)
    return Encoded(
      cold: encoder.finish(.cold, objectID: id, extras: extras),
      hot: current.layout.hot.fieldCount > 0 ? encoder.finish(.hot, objectID: id) : nil
    )
  }

  private func withView<R>(
    of record: Encoded,
    _ id: UInt64,
    _ body: (borrowing RecordView) throws -> R
  ) throws -> R {
    try unsafe record.cold.withUnsafeBytes { cold in
      try unsafe (record.hot ?? []).withUnsafeBytes { hot in
        unsafe try body(RecordView(cold: cold, hot: hot, objectID: id, binding: current))
      }
    }
  }

  private func stored(
    _ id: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> Stored {
    let records = unsafe RecordSource<M>(
      transaction: TransactionReference(transaction),
      tables: tables
    )
    let stored = unsafe try records.withRecord(id) { record in
      guard case .present(let key) = unsafe try record.content(at: tables.primaryKeyPosition)
      else { throw RecordError(.missingField) }
      return unsafe Stored(
        cold: record.copyOfCold,
        hot: record.copyOfHot,
        extras: try record.encodedUnknownFields(),
        indexEntries: try indexEntries(record, id),
        keyHash: XXHash64.hash(key, seed: tables.hashSeed)
      )
    }
    guard let stored else {
      throw StoreError(.damaged, "object \(id) of \(M.schema.name) has no record")
    }
    return stored
  }

  private func put(
    _ value: [UInt8],
    _ id: UInt64,
    in database: Database,
    _ transaction: inout WriteTransaction
  ) throws {
    try unsafe withUnsafeBytes(of: id) { key in
      try unsafe value.withUnsafeBytes { unsafe try transaction.put($0, for: key, in: database) }
    }
  }

  private func removeValue(
    of id: UInt64,
    in database: Database,
    _ transaction: inout WriteTransaction
  ) throws {
    _ = try unsafe withUnsafeBytes(of: id) { unsafe try transaction.delete($0, in: database) }
  }

  // MARK: Indexes

  /// The entries of the record in each of the indexes, in the order of `tables.indexes`.
  private func indexEntries(
    _ record: borrowing RecordView,
    _ id: UInt64
  ) throws(RecordError) -> [[[UInt8]]] {
    var entries: [[[UInt8]]] = []
    entries.reserveCapacity(tables.indexes.count)
    for index in tables.indexes {
      let content = unsafe try record.content(ofID: index.fieldID)
      entries.append(
        unsafe try KeyEncoding.keys(of: content, type: index.type)
          .map { KeyEncoding.append(id, to: $0) }
      )
    }
    return entries
  }

  /// Fills an index that is new from the records that are there.
  func build(_ index: ModelTables.Index, in transaction: inout WriteTransaction) throws {
    let records = unsafe RecordSource<M>(
      transaction: TransactionReference(transaction),
      tables: tables
    )
    var keys: [[UInt8]] = []
    unsafe try records.scan { id, record in
      let content = unsafe try record.content(ofID: index.fieldID)
      for key in unsafe try KeyEncoding.keys(of: content, type: index.type) {
        keys.append(KeyEncoding.append(id, to: key))
      }
      return true
    }
    // In the order of keys, so that pages fill up one after another.
    keys.sort { $0.lexicographicallyPrecedes($1) }
    for key in keys { try transaction.put(key.span, in: index.database) }
  }

  // MARK: Ids and primary keys

  /// One more than every id that an object has, or ever had: ids tell objects apart for ever.
  private func nextID(in transaction: borrowing WriteTransaction) throws -> UInt64 {
    let cursor = unsafe try transaction.cursor(on: tables.records)
    var last: UInt64 = 0
    if let entry = unsafe try cursor.last(), unsafe entry.key.count == 8 {
      last = unsafe entry.key.loadUnaligned(as: UInt64.self)
    }
    let floor: UInt64 =
      try schema.metadata.integer(MetadataKey.floor(tables.name), in: transaction) ?? 0
    let greatest = max(last, floor)
    guard greatest < .max else {
      throw StoreError(.damaged, "\(tables.name) has an object of the greatest possible id")
    }
    return greatest + 1
  }

  /// Keeps the id of the newest object from being given again.
  private func noteRemoval(of id: UInt64, in transaction: inout WriteTransaction) throws {
    guard try nextID(in: transaction) == id + 1 else { return }
    try schema.metadata.set(id, for: MetadataKey.floor(tables.name), in: &transaction)
  }

  private func addKey(
    of key: M.PrimaryKey,
    _ id: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    let hash = XXHash64.hash(key.storedBytes, seed: tables.hashSeed)
    try setIDs(try ids(withHash: hash, in: transaction) + [id], hash, &transaction)
  }

  private func removeKey(
    withHash hash: UInt64,
    _ id: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    try setIDs(try ids(withHash: hash, in: transaction).filter { $0 != id }, hash, &transaction)
  }

  private func ids(
    withHash hash: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> [UInt64] {
    unsafe try RecordSource<M>(transaction: TransactionReference(transaction), tables: tables)
      .objectIDs(withHash: hash)
  }

  private func setIDs(
    _ ids: [UInt64],
    _ hash: UInt64,
    _ transaction: inout WriteTransaction
  ) throws {
    guard !ids.isEmpty else { return try removeValue(of: hash, in: tables.keys, &transaction) }
    var writer = ByteWriter()
    for id in ids { writer.write(id) }
    try put(writer.bytes, hash, in: tables.keys, &transaction)
  }
}
