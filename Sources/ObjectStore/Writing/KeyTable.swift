internal import LMDB

/// The table that leads from primary keys to objects, as one write changes it.
struct KeyTable: ~Copyable {
  private let tables: ModelTables
  private var pending = PendingKeys()
  /// A hash that was looked up and is in neither the table nor ``pending``.
  private var absentHash: UInt64?

  init(_ tables: ModelTables) {
    self.tables = tables
  }

  /// What the table has under a hash.
  @unsafe
  enum Listed {
    case nothing
    /// One object that was added in this write.
    case pending(UInt64)
    /// Ids of eight bytes each.
    case stored(UnsafeRawBufferPointer)
  }

  mutating func ids(withHash hash: UInt64, in reader: ModelReader) throws -> Listed {
    if let id = pending.id(withHash: hash) { return unsafe .pending(id) }
    guard let ids = unsafe try reader.objectIDs(withHash: hash) else {
      absentHash = hash
      return unsafe .nothing
    }
    return unsafe .stored(ids)
  }

  /// Notes that neither the table nor what was put off has that hash.
  mutating func noteAbsent(_ hash: UInt64) {
    absentHash = hash
  }

  mutating func add(
    _ id: UInt64,
    withHash hash: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    guard absentHash == hash else {
      unsafe try flush(in: WriteTransactionReference(transaction))
      let others = try stored(withHash: hash, in: transaction)
      return try set(others + [id], hash, in: &transaction)
    }
    if pending.count >= PendingKeys.limit {
      unsafe try flush(in: WriteTransactionReference(transaction))
    }
    pending.add(id, withHash: hash)
    absentHash = nil
  }

  mutating func remove(
    _ id: UInt64,
    withHash hash: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    if pending.id(withHash: hash) != nil {
      unsafe try flush(in: WriteTransactionReference(transaction))
    }
    let ids = try stored(withHash: hash, in: transaction)
    try set(ids.filter { $0 != id }, hash, in: &transaction)
  }

  /// Stores what was put off.
  mutating func flush(in transaction: WriteTransactionReference) throws {
    unsafe try pending.flush(to: tables.keys, in: transaction)
  }

  private func stored(
    withHash hash: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> [UInt64] {
    let reader = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: tables
    )
    guard let bytes = unsafe try reader.objectIDs(withHash: hash) else { return [] }
    return stride(from: 0, to: bytes.count, by: 8).map { offset in
      unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }

  private func set(
    _ ids: [UInt64],
    _ hash: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    try unsafe withUnsafeBytes(of: hash) { key in
      guard !ids.isEmpty else {
        _ = unsafe try transaction.delete(key, in: tables.keys)
        return
      }
      var writer = ByteWriter()
      for id in ids { writer.write(id) }
      unsafe try transaction.put(writer.buffer, for: key, in: tables.keys)
    }
  }
}
