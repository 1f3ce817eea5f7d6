/// The first eight bytes of the cold part of a record.
struct RecordHeader {
  /// The low half of the XXH64 of all bytes after it, seeded with the object's id, so that a record
  /// under another's id is found out too.
  var checksum: UInt32
  /// Which layout the record has.
  var layoutNumber: UInt16
  /// Whether fields follow that the writer's schema does not have.
  var hasExtras: Bool

  static let size = 8
  static let codingVersion: UInt8 = 1

  init(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
    guard bytes.count >= Self.size else { throw RecordError(.truncated) }
    let word = unsafe UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    guard UInt8(truncatingIfNeeded: word >> 48) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    checksum = UInt32(truncatingIfNeeded: word)
    layoutNumber = UInt16(truncatingIfNeeded: word >> 32)
    hasExtras = word >> 56 & 1 != 0
  }

  static func checksum(of bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt32 {
    let covered = unsafe UnsafeRawBufferPointer(rebasing: bytes[4...])
    return unsafe UInt32(truncatingIfNeeded: XXHash64.hash(covered, seed: seed))
  }
}
