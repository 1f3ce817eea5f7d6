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
/// | `u16` | that size; otherwise 0 |
/// | `u32` each | only when they differ: where each part ends, counted from the first |
/// | | the parts in the order of their objects; when they differ, each with its layout (`u16`) before it |
enum HotChunk {
  static let shift: UInt64 = 5
  static let headerSize = 12

  /// The chunk of an object.
  static func number(of objectID: UInt64) -> UInt64 { objectID >> shift }

  /// The object's place in its chunk.
  static func slot(of objectID: UInt64) -> Int { Int(objectID & (1 << shift - 1)) }

  /// One hot part.
  @unsafe
  struct Part {
    var layoutNumber: UInt16
    var bytes: UnsafeRawBufferPointer
  }
}

/// A chunk in the map: its bytes have been checked against the checksum.
@unsafe
struct HotChunkView {
  let bytes: UnsafeRawBufferPointer
  /// Which objects have a part.
  let presence: UInt32
  /// 0 when the parts differ.
  let layoutNumber: UInt16
  let stride: Int

  init(_ bytes: UnsafeRawBufferPointer, number: UInt64) throws(RecordError) {
    guard bytes.count >= HotChunk.headerSize else { throw RecordError(.truncated) }
    let first = unsafe UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    let checksum = unsafe RecordHeader.checksum(of: bytes, seed: number)
    guard UInt32(truncatingIfNeeded: first) == checksum else {
      throw RecordError(.checksumMismatch)
    }
    unsafe self.init(checked: bytes)
    let count = unsafe presence.nonzeroBitCount
    let least = unsafe stride > 0 ? count * stride : count * 6
    guard bytes.count >= HotChunk.headerSize + least else { throw RecordError(.truncated) }
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

  /// The part of the object at that place, or `nil`.
  func part(at slot: Int) throws(RecordError) -> HotChunk.Part? {
    guard unsafe hasPart(at: slot) else { return nil }
    let rank = unsafe rank(of: slot)
    if unsafe stride > 0 {
      let start = unsafe HotChunk.headerSize + rank * stride
      return unsafe HotChunk.Part(
        layoutNumber: layoutNumber,
        bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<start + stride])
      )
    }
    let base = unsafe HotChunk.headerSize + presence.nonzeroBitCount * 4
    let start = unsafe rank == 0 ? 0 : end(rank - 1)
    let end = unsafe end(rank)
    guard start + 2 <= end, unsafe base + end <= bytes.count else { throw RecordError(.truncated) }
    let whole = unsafe UnsafeRawBufferPointer(rebasing: bytes[base + start..<base + end])
    return unsafe HotChunk.Part(
      layoutNumber: UInt16(littleEndian: whole.loadUnaligned(as: UInt16.self)),
      bytes: UnsafeRawBufferPointer(rebasing: whole[2...])
    )
  }

  private func end(_ rank: Int) -> Int {
    let offset = HotChunk.headerSize + rank * 4
    return unsafe Int(
      UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    )
  }
}

/// A chunk that is being changed.
final class HotChunkBuilder {
  private var writer: ByteWriter

  /// A chunk without parts.
  init() {
    writer = ByteWriter(capacity: 1_024)
    writer.appendZeros(HotChunk.headerSize)
  }

  init(_ chunk: HotChunkView) {
    writer = ByteWriter(capacity: unsafe chunk.bytes.count)
    unsafe writer.append(chunk.bytes)
  }

  /// The chunk as it is now: valid until it changes.
  ///
  /// Its checksum is that of the last ``seal(number:)``.
  @unsafe var view: HotChunkView { unsafe HotChunkView(checked: writer.buffer) }

  /// Writes the checksum; the chunk is then ready to be stored.
  func seal(number: UInt64) {
    writer.patch(unsafe RecordHeader.checksum(of: writer.buffer, seed: number), at: 0)
  }

  /// Sets the part of the object at that place.
  func set(
    _ part: UnsafeRawBufferPointer,
    layoutNumber: UInt16,
    at slot: Int
  ) throws(RecordError) {
    let chunk = unsafe view
    let isUniform =
      unsafe chunk.presence == 0
      || (chunk.stride == part.count && chunk.layoutNumber == layoutNumber)
    guard isUniform, part.count > 0, part.count <= Int(UInt16.max) else {
      return try replace(slot, with: Part(layoutNumber: layoutNumber, bytes: unsafe Array(part)))
    }
    let start = unsafe HotChunk.headerSize + chunk.rank(of: slot) * part.count
    if unsafe !chunk.hasPart(at: slot) {
      let presence = unsafe chunk.presence
      writer.insertZeros(part.count, at: start)
      writer.patch(presence | 1 << UInt32(slot), at: 4)
      writer.patch(layoutNumber, at: 8)
      writer.patch(UInt16(part.count), at: 10)
    }
    unsafe writer.overwrite(part, at: start)
  }

  /// Removes the part of the object at that place, if there is one.
  func remove(_ slot: Int) throws(RecordError) {
    guard unsafe view.hasPart(at: slot) else { return }
    try replace(slot, with: nil)
  }

  private struct Part {
    var layoutNumber: UInt16
    var bytes: [UInt8]
  }

  /// Builds the chunk anew.
  private func replace(_ slot: Int, with part: Part?) throws(RecordError) {
    var parts: [(slot: Int, part: Part)] = []
    for other in 0..<(1 << Int(HotChunk.shift)) {
      if other == slot {
        if let part { parts.append((slot, part)) }
      } else if let kept = unsafe try view.part(at: other) {
        let copy = unsafe Part(layoutNumber: kept.layoutNumber, bytes: Array(kept.bytes))
        parts.append((other, copy))
      }
    }
    writer.removeAll()
    writer.write(0 as UInt32)
    writer.write(parts.reduce(0 as UInt32) { $0 | 1 << UInt32($1.slot) })
    let first = parts.first?.part
    let isUniform = parts.allSatisfy { _, part in
      part.layoutNumber == first?.layoutNumber && part.bytes.count == first?.bytes.count
    }
    if isUniform, let first, first.bytes.count > 0, first.bytes.count <= Int(UInt16.max) {
      writer.write(first.layoutNumber)
      writer.write(UInt16(first.bytes.count))
      for (_, part) in parts { writer.write(part.bytes) }
      return
    }
    writer.write(0 as UInt32)
    var end: UInt32 = 0
    for (_, part) in parts {
      end += UInt32(part.bytes.count + 2)
      writer.write(end)
    }
    for (_, part) in parts {
      writer.write(part.layoutNumber)
      writer.write(part.bytes)
    }
  }
}
