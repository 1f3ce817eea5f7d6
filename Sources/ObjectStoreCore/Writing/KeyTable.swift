internal import LMDB

/// The key table of a model, which maps hashes of primary keys to object ids, during one write.
struct KeyTable: ~Copyable {
  private let tables: ModelTables
  private var deferred = DeferredKeys()
  /// The last hash that was found to be in neither the table nor ``deferred``.
  private var absentHash: UInt64?

  init(_ tables: ModelTables) {
    self.tables = tables
  }

  /// The result of looking up a hash.
  @unsafe
  enum Lookup {
    case notFound
    /// The id of an object that was added in this write.
    case deferred(UInt64)
    /// Object ids of eight bytes each.
    case stored(UnsafeRawBufferPointer)
  }

  mutating func ids(withHash hash: UInt64, in reader: ModelReader) throws -> Lookup {
    if let id = deferred.id(withHash: hash) { return unsafe .deferred(id) }
    guard let ids = unsafe try reader.objectIDs(withHash: hash) else {
      absentHash = hash
      return unsafe .notFound
    }
    return unsafe .stored(ids)
  }

  /// Records that neither the table nor ``deferred`` contains the hash.
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
    if deferred.count >= DeferredKeys.limit {
      unsafe try flush(in: WriteTransactionReference(transaction))
    }
    deferred.add(id, withHash: hash)
    absentHash = nil
  }

  mutating func remove(
    _ id: UInt64,
    withHash hash: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    if deferred.id(withHash: hash) != nil {
      unsafe try flush(in: WriteTransactionReference(transaction))
    }
    let ids = try stored(withHash: hash, in: transaction)
    try set(ids.filter { $0 != id }, hash, in: &transaction)
  }

  /// Stores the deferred entries.
  mutating func flush(in transaction: WriteTransactionReference) throws {
    unsafe try deferred.flush(to: tables.keys, in: transaction)
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

/// The deferred additions to a key table, as a hash table from hashes to object ids.
///
/// Hashes arrive in random order. Storing them one by one would touch a page each; sorted, they
/// fill the pages one after another.
///
/// This is not a `Dictionary`, because the keys are already hashes.
struct DeferredKeys: ~Copyable {
  private struct Slot {
    var hash: UInt64 = 0
    /// The object id; 0 in an empty slot, because no object has the id 0.
    var id: UInt64 = 0
  }

  /// The maximum number of entries before they are stored; the slots then take 32 MiB.
  static let limit = 1 << 20

  /// The slots.
  ///
  /// Their number is a power of two, or zero.
  ///
  /// The leading bits of a hash select its slot, so the slots are nearly sorted by hash.
  private var slots: [Slot] = []
  private var shift: UInt64 = 0
  private(set) var count = 0

  /// Returns the id with this hash, if there is one.
  func id(withHash hash: UInt64) -> UInt64? {
    guard count > 0 else { return nil }
    let slot = slots[index(of: hash)]
    return slot.id == 0 ? nil : slot.id
  }

  /// Adds an entry.
  ///
  /// - Precondition: Neither this table nor the stored one contains the hash.
  mutating func add(_ id: UInt64, withHash hash: UInt64) {
    if count * 2 >= slots.count { grow() }
    slots[index(of: hash)] = Slot(hash: hash, id: id)
    count += 1
  }

  /// Returns the slot of the hash, or the empty slot for it.
  private func index(of hash: UInt64) -> Int {
    let mask = slots.count - 1
    var index = Int(truncatingIfNeeded: hash >> shift)
    while slots[index].id != 0, slots[index].hash != hash { index = (index + 1) & mask }
    return index
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(), count: max(64, old.count * 2))
    shift = UInt64(UInt64.bitWidth - slots.count.trailingZeroBitCount)
    for slot in old where slot.id != 0 { slots[index(of: slot.hash)] = slot }
  }

  /// Stores every entry in key order.
  mutating func flush(
    to database: Database,
    in transaction: WriteTransactionReference
  ) throws(LMDBError) {
    guard count > 0 else { return }
    var sorted: [Slot] = []
    swap(&sorted, &slots)
    count = 0
    sorted.removeAll { $0.id == 0 }
    Self.sort(&sorted)
    var writer = unsafe try OrderedWriter(database, in: transaction)
    for slot in sorted {
      let (hash, id) = (slot.hash, slot.id.littleEndian)
      let result = unsafe withUnsafeBytes(of: hash) { key in
        unsafe withUnsafeBytes(of: id) { value in
          Result { () throws(LMDBError) in unsafe try writer.put(value, for: key) }
        }
      }
      try result.get()
    }
  }

  /// Sorts the slots by hash.
  ///
  /// Uses insertion sort, because only slots in a run of full slots, or wrapped around the end, are
  /// out of order.
  private static func sort(_ slots: inout [Slot]) {
    for index in slots.indices.dropFirst() {
      let slot = slots[index]
      var position = index
      while position > 0, slots[position - 1].hash > slot.hash {
        slots[position] = slots[position - 1]
        position -= 1
      }
      slots[position] = slot
    }
  }
}
