/// The hot parts of up to 32 neighbours, which share one entry of their table.
///
/// Fields that change often are small. Packed together, a checkpoint of many downloads touches few
/// pages, and a condition on such fields reads them one after another.
///
/// | bytes | what |
/// |---|---|
/// | `u32` | checksum: the low 32 bits of the XXH64 of all bytes after it, seeded with the number of the chunk |
/// | `u32` | bit n: object 32 × chunk + n has a hot part |
/// | `u16` | the layout of every part, when all have one layout and one size; otherwise 0 |
/// | `u16` | that size, the part's checksum included; otherwise 0 |
/// | `u32` each | only when they differ: where each part ends, counted from the first |
/// | | the parts in the order of their objects; before each its checksum (`u32`) and, when they differ, its layout (`u16`) |
///
/// The checksum of a part is the low 32 bits of the XXH64 of its bytes, seeded with the object's id
/// XOR the number of its layout shifted left by 48 bits. Who wants one object checks that of its
/// part, and touches no other: a part that is not the object's, or not of that layout, does not fit.
/// Who reads them all checks the chunk's.
enum HotChunk {
  static let shift: UInt64 = 5
  static let headerSize = 12
  /// What comes before each part: its checksum, and its layout when the parts differ.
  static let checksumSize = 4
  static let unevenPrefixSize = 6

  /// The chunk of an object.
  static func number(of objectID: UInt64) -> UInt64 { objectID >> shift }

  /// The object's place in its chunk.
  static func slot(of objectID: UInt64) -> Int { Int(objectID & (1 << shift - 1)) }

  /// One hot part.
  @unsafe
  struct Part {
    var layoutNumber: UInt16
    var bytes: UnsafeRawBufferPointer

    func checksum(objectID: UInt64) -> UInt32 {
      let seed = unsafe objectID ^ UInt64(layoutNumber) << 48
      return unsafe UInt32(truncatingIfNeeded: XXHash64.hash(bytes, seed: seed))
    }
  }
}

/// A chunk in the map, at least as long as its header says.
@unsafe
struct HotChunkView {
  let bytes: UnsafeRawBufferPointer
  /// Which objects have a part.
  let presence: UInt32
  /// 0 when the parts differ.
  let layoutNumber: UInt16
  let stride: Int

  /// Checks the bytes against the checksum of the chunk.
  init(_ bytes: UnsafeRawBufferPointer, number: UInt64) throws(RecordError) {
    unsafe try self.init(measured: bytes)
    let first = unsafe UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
    guard unsafe first == RecordHeader.checksum(of: bytes, seed: number) else {
      throw RecordError(.checksumMismatch)
    }
  }

  /// Checks the size alone: for ``checkedPart(of:)``.
  init(measured bytes: UnsafeRawBufferPointer) throws(RecordError) {
    guard bytes.count >= HotChunk.headerSize else { throw RecordError(.truncated) }
    unsafe self.init(checked: bytes)
    let count = unsafe presence.nonzeroBitCount
    let least = unsafe stride > 0 ? stride : 4 + HotChunk.unevenPrefixSize
    guard unsafe stride == 0 || stride > HotChunk.checksumSize,
      bytes.count >= HotChunk.headerSize + count * least
    else { throw RecordError(.truncated) }
  }

  /// Takes bytes for whole that were made or checked before.
  init(checked bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = unsafe bytes
    unsafe presence = UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
    )
    unsafe layoutNumber = UInt16(
      littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt16.self)
    )
    unsafe stride = Int(
      UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self))
    )
  }

  func hasPart(at slot: Int) -> Bool { unsafe presence >> UInt32(slot) & 1 != 0 }

  /// How many parts lie before that of the slot.
  func rank(of slot: Int) -> Int {
    unsafe (presence & (1 << UInt32(slot) &- 1)).nonzeroBitCount
  }

  /// The part of the object at that place, or `nil`; its own checksum is not looked at.
  func part(at slot: Int) throws(RecordError) -> HotChunk.Part? {
    unsafe try entry(at: slot)?.part
  }

  /// The part of the object, checked against its own checksum, or `nil`.
  func checkedPart(of objectID: UInt64) throws(RecordError) -> HotChunk.Part? {
    guard let entry = unsafe try entry(at: HotChunk.slot(of: objectID)) else { return nil }
    guard unsafe entry.checksum == entry.part.checksum(objectID: objectID) else {
      throw RecordError(.checksumMismatch)
    }
    return unsafe entry.part
  }

  /// The part of the object at that place and its checksum, not yet compared.
  @inline(__always)
  func entry(
    at slot: Int
  ) throws(RecordError) -> (checksum: UInt32, part: HotChunk.Part)? {
    guard unsafe hasPart(at: slot) else { return nil }
    let rank = unsafe rank(of: slot)
    let range: Range<Int>
    let prefix: Int
    if unsafe stride > 0 {
      let start = unsafe HotChunk.headerSize + rank * stride
      range = unsafe start..<start + stride
      prefix = HotChunk.checksumSize
    } else {
      let base = unsafe HotChunk.headerSize + presence.nonzeroBitCount * 4
      let start = unsafe base + (rank == 0 ? 0 : end(rank - 1))
      let end = unsafe base + end(rank)
      prefix = HotChunk.unevenPrefixSize
      guard start + prefix <= end, unsafe end <= bytes.count else {
        throw RecordError(.truncated)
      }
      range = start..<end
    }
    let whole = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
    let checksum = unsafe UInt32(littleEndian: whole.loadUnaligned(as: UInt32.self))
    let number =
      unsafe stride > 0
      ? layoutNumber
      : UInt16(littleEndian: whole.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
    let part = unsafe HotChunk.Part(
      layoutNumber: number,
      bytes: UnsafeRawBufferPointer(rebasing: whole[prefix...])
    )
    return unsafe (checksum, part)
  }

  private func end(_ rank: Int) -> Int {
    let offset = HotChunk.headerSize + rank * 4
    return unsafe Int(
      UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    )
  }
}
