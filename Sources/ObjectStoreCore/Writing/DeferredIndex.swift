internal import LMDB

/// The deferred additions and removals of entries in one index.
///
/// They are stored together in key order, so that the pages of the index are filled one after
/// another.
struct DeferredIndexEntries: ~Copyable {
  private struct Change {
    /// The first 16 bytes of the key as integers, which decide most comparisons.
    var head: (UInt64, UInt64)
    var start: UInt32
    var size: UInt16
    var isAdded: Bool
  }

  /// The maximum number of changes and of key bytes before they are stored.
  private static let limit = 1 << 20
  private static let byteLimit = 64 << 20

  private var keys = ByteWriter(capacity: 256)
  private var changes: [Change] = []

  var isFull: Bool { changes.count >= Self.limit || keys.count >= Self.byteLimit }

  mutating func append(_ key: UnsafeRawBufferPointer, isAdded: Bool) {
    changes.append(
      Change(
        head: unsafe (Self.word(key, 0), Self.word(key, 8)),
        start: UInt32(keys.count),
        size: UInt16(key.count),
        isAdded: isAdded
      )
    )
    unsafe keys.append(key)
  }

  private static func word(_ key: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    if offset + 8 <= key.count {
      return unsafe UInt64(
        bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      )
    }
    var word: UInt64 = 0
    for index in offset..<offset + 8 {
      word = unsafe word << 8 | (index < key.count ? UInt64(key[index]) : 0)
    }
    return word
  }

  private func key(of change: Change) -> UnsafeRawBufferPointer {
    let start = Int(change.start)
    return unsafe UnsafeRawBufferPointer(rebasing: keys.buffer[start..<start + Int(change.size)])
  }

  private func precedes(_ left: Change, _ right: Change) -> Bool {
    if left.head.0 != right.head.0 { return left.head.0 < right.head.0 }
    if left.head.1 != right.head.1 { return left.head.1 < right.head.1 }
    let order = unsafe key(of: left).compare(to: key(of: right))
    return order == 0 ? left.start < right.start : order < 0
  }

  /// Stores every change in key order.
  mutating func flush(
    to database: Database,
    in transaction: WriteTransactionReference
  ) throws(LMDBError) {
    guard !changes.isEmpty else { return }
    var sorted: [Change] = []
    swap(&sorted, &changes)
    sorted.sort { precedes($0, $1) }
    var writer = unsafe try OrderedWriter(database, in: transaction)
    for index in sorted.indices {
      let key = unsafe key(of: sorted[index])
      // Changes of the same key are sorted by time; only the last one counts.
      let next = index + 1
      if next < sorted.count, unsafe key.isSame(as: self.key(of: sorted[next])) { continue }
      if sorted[index].isAdded {
        unsafe try writer.put(UnsafeRawBufferPointer(start: nil, count: 0), for: key)
      } else {
        unsafe try writer.delete(key)
      }
    }
    keys.removeAll()
    sorted.removeAll(keepingCapacity: sorted.count < 4_096)
    changes = sorted
  }
}

/// Writes the entries of one index during a write.
///
/// Changes are deferred and stored in key order. Changes of a unique index are stored immediately,
/// because each uniqueness check must see the previous ones.
final class DeferredIndex {
  private let database: Database
  private let isUnique: Bool
  private let entries = UncheckedStorage(DeferredIndexEntries())

  init(_ index: ModelTables.Index) {
    database = index.database
    isUnique = index.description.isUnique
  }

  func add(_ key: UnsafeRawBufferPointer, in transaction: inout WriteTransaction) throws {
    guard isUnique else { return unsafe try append(key, isAdded: true, in: transaction) }
    let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    unsafe try transaction.put(nothing, for: key, in: database)
  }

  func remove(_ key: UnsafeRawBufferPointer, in transaction: inout WriteTransaction) throws {
    guard isUnique else { return unsafe try append(key, isAdded: false, in: transaction) }
    _ = unsafe try transaction.delete(key, in: database)
  }

  private func append(
    _ key: UnsafeRawBufferPointer,
    isAdded: Bool,
    in transaction: borrowing WriteTransaction
  ) throws {
    if entries.value.isFull { unsafe try flush(in: WriteTransactionReference(transaction)) }
    unsafe entries.value.append(key, isAdded: isAdded)
  }

  func flush(in transaction: WriteTransactionReference) throws {
    unsafe try entries.value.flush(to: database, in: transaction)
  }
}
