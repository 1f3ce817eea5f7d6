/// The first eight bytes of each part of a record.
struct RecordHeader {
  /// The low half of the XXH64 of all bytes after it, seeded with the object's id, so that a record
  /// under another's id is found out too.
  var checksum: UInt32
  /// Which layout the part has.
  var layoutNumber: UInt16
  /// Whether fields follow that the writer's schema does not have.
  var hasExtras: Bool

  static let codingVersion: UInt8 = 1

  init(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
    guard bytes.count >= RecordLayout.PartShape.headerSize else { throw RecordError(.truncated) }
    unsafe checksum = UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
    )
    unsafe layoutNumber = UInt16(
      littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
    )
    guard unsafe bytes[6] == Self.codingVersion else { throw RecordError(.unknownCoding) }
    unsafe hasExtras = bytes[7] & 1 != 0
  }

  static func checksum(of bytes: UnsafeRawBufferPointer, objectID: UInt64) -> UInt32 {
    let covered = unsafe UnsafeRawBufferPointer(rebasing: bytes[4...])
    return unsafe UInt32(truncatingIfNeeded: XXHash64.hash(covered, seed: objectID))
  }
}
