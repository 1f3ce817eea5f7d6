internal import LMDB

/// Entries of the key table that a write has added and not yet stored: hash to object id.
///
/// Hashes come in no order. Stored one by one they touch a page each; stored together, sorted, they
/// fill the pages one after another.
///
/// A table of its own rather than a dictionary: the keys are hashes already.
struct PendingKeys: ~Copyable {
  private struct Slot {
    var hash: UInt64 = 0
    /// 0 in an empty slot: no object has that id.
    var id: UInt64 = 0
  }

  /// More are stored before others are taken in: 32 MB of them.
  static let limit = 1 << 20

  /// As many as a power of two, or none.
  ///
  /// The leading bits of a hash say where it belongs, so that they lie nearly in the order of hashes.
  private var slots: [Slot] = []
  private var shift: UInt64 = 0
  private(set) var count = 0

  /// The id under that hash, if there is one here.
  func id(withHash hash: UInt64) -> UInt64? {
    guard count > 0 else { return nil }
    let slot = slots[index(of: hash)]
    return slot.id == 0 ? nil : slot.id
  }

  /// Adds an entry whose hash neither this nor the table has.
  mutating func add(_ id: UInt64, withHash hash: UInt64) {
    if count * 2 >= slots.count { grow() }
    slots[index(of: hash)] = Slot(hash: hash, id: id)
    count += 1
  }

  /// The slot of the hash, or the empty one where it would be.
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

  /// Stores every entry, in the order of the table.
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

  /// Sorts by insertion, since few slots lie far from their place: those of one run of full slots,
  /// and those that had no room before the end.
  private static func sort(_ slots: inout [Slot]) {
    for index in slots.indices.dropFirst() {
      let slot = slots[index]
      var place = index
      while place > 0, slots[place - 1].hash > slot.hash {
        slots[place] = slots[place - 1]
        place -= 1
      }
      slots[place] = slot
    }
  }
}
