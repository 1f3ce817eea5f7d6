internal import LMDB

/// The format of a hot chunk: the hot parts of 32 consecutive object ids in one table entry.
///
/// Hot fields are small and change often. Packing them means that updating many objects dirties few
/// pages, and that a query on hot fields reads them sequentially.
///
/// | bytes | meaning |
/// |---|---|
/// | `u32` | checksum of all following bytes, seeded with the number of the chunk |
/// | `u32` | presence bits: bit n is set when object 32 × chunk + n has a hot part |
/// | `u16` | uniform chunk: the layout number of every part; otherwise 0 |
/// | `u16` | uniform chunk: the stride, the size of a part with its checksum; otherwise 0 |
/// | `u32` each | only if not uniform: the end offset of each part, from the start of the first |
/// | | the parts in the order of object ids |
///
/// A chunk is uniform when all its parts have the same layout and size, and the stride fits in a
/// `u16`. Each part is preceded by its checksum (`u32`) and, if the chunk is not uniform, by its
/// layout number (`u16`).
///
/// A checksum is the low 32 bits of an XXH64 hash. The seed of a part's checksum is the object's id
/// XOR the layout number shifted left by 48 bits, so the checksum also detects a part that is
/// stored under another object's id or layout. Reading one object verifies the checksum of its part
/// and touches no other part; a scan verifies the checksum of the chunk.
package enum HotChunk {
  package static let shift: UInt64 = 5
  package static let headerSize = 12
  /// The size of the prefix of a part in a uniform chunk: its checksum.
  static let checksumSize = 4
  /// The size of the prefix of a part in a chunk that is not uniform: its checksum and its layout.
  static let mixedPrefixSize = 6

  /// The number of the chunk that holds the object.
  package static func number(of objectID: UInt64) -> UInt64 { objectID >> shift }

  /// The object's position in its chunk, from 0 to 31.
  static func slot(of objectID: UInt64) -> Int { Int(objectID & (1 << shift - 1)) }

  /// The hot part of one object.
  @unsafe
  package struct Part {
    package var layoutNumber: UInt16
    package var bytes: UnsafeRawBufferPointer

    package init(layoutNumber: UInt16, bytes: UnsafeRawBufferPointer) {
      unsafe self.layoutNumber = layoutNumber
      unsafe self.bytes = unsafe bytes
    }

    func checksum(objectID: UInt64) -> UInt32 {
      let seed = unsafe objectID ^ UInt64(layoutNumber) << 48
      return unsafe UInt32(truncatingIfNeeded: XXHash64.hash(bytes, seed: seed))
    }
  }
}

/// A chunk in the memory map, at least as long as its header requires.
@unsafe
package struct HotChunkView {
  package let bytes: UnsafeRawBufferPointer
  /// A bit for each slot that has a part.
  package let presence: UInt32
  /// The layout of every part; 0 when the chunk is not uniform.
  package let layoutNumber: UInt16
  /// The size of each part with its checksum; 0 when the chunk is not uniform.
  package let stride: Int

  /// Verifies the size and the checksum of the chunk.
  package init(_ bytes: UnsafeRawBufferPointer, number: UInt64) throws(RecordError) {
    unsafe try self.init(measured: bytes)
    let first = unsafe UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
    guard unsafe first == RecordHeader.checksum(of: bytes, seed: number) else {
      throw RecordError(.checksumMismatch)
    }
  }

  /// Verifies only the size; ``checkedPart(of:)`` verifies the checksum of the part it returns.
  package init(measured bytes: UnsafeRawBufferPointer) throws(RecordError) {
    guard bytes.count >= HotChunk.headerSize else { throw RecordError(.truncated) }
    unsafe self.init(checked: bytes)
    let count = unsafe presence.nonzeroBitCount
    let least = unsafe stride > 0 ? stride : 4 + HotChunk.mixedPrefixSize
    guard unsafe stride == 0 || stride > HotChunk.checksumSize,
      bytes.count >= HotChunk.headerSize + count * least
    else { throw RecordError(.truncated) }
  }

  /// Wraps bytes that were built in this process or verified before.
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

  /// The number of parts stored before that of the slot.
  func rank(of slot: Int) -> Int {
    unsafe (presence & (1 << UInt32(slot) &- 1)).nonzeroBitCount
  }

  /// The part in the slot, or `nil`, without verifying its checksum.
  package func part(at slot: Int) throws(RecordError) -> HotChunk.Part? {
    unsafe try entry(at: slot)?.part
  }

  /// The part of the object after verifying its checksum, or `nil`.
  package func checkedPart(of objectID: UInt64) throws(RecordError) -> HotChunk.Part? {
    guard let entry = unsafe try entry(at: HotChunk.slot(of: objectID)) else { return nil }
    guard unsafe entry.checksum == entry.part.checksum(objectID: objectID) else {
      throw RecordError(.checksumMismatch)
    }
    return unsafe entry.part
  }

  /// The part in the slot and its stored checksum, not yet compared.
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
      prefix = HotChunk.mixedPrefixSize
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

  /// The place of a part in a uniform chunk; `nil` if there is none, or if the chunk is not uniform.
  func uniformRange(at slot: Int) -> Range<Int>? {
    guard unsafe stride > 0, unsafe hasPart(at: slot) else { return nil }
    let start = unsafe HotChunk.headerSize + rank(of: slot) * stride
    return unsafe start..<start + stride
  }

  /// Requests the memory of the part of an object, which will be read soon; only in a uniform chunk.
  static func requestPart(of objectID: UInt64, in chunk: UnsafeRawBufferPointer) {
    guard let view = unsafe try? HotChunkView(measured: chunk),
      let range = unsafe view.uniformRange(at: HotChunk.slot(of: objectID))
    else { return }
    unsafe BatchLookup.request(chunk[range])
  }

  private func end(_ rank: Int) -> Int {
    let offset = HotChunk.headerSize + rank * 4
    return unsafe Int(
      UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    )
  }
}

/// A mutable copy of a chunk.
final class HotChunkBuilder: ChunkBuilder {
  private var writer: ByteWriter
  /// Whether a part was set or removed.
  private(set) var isChanged = false

  /// Creates a chunk without parts.
  init() {
    writer = ByteWriter(capacity: 1_024)
    writer.appendZeros(HotChunk.headerSize)
  }

  init(_ chunk: HotChunkView) {
    writer = ByteWriter(capacity: unsafe chunk.bytes.count)
    unsafe writer.append(chunk.bytes)
  }

  /// The current bytes of the chunk, valid until the next change.
  ///
  /// The chunk's checksum is stale after a change until ``seal(seed:)`` updates it.
  @unsafe var view: HotChunkView { unsafe HotChunkView(checked: writer.buffer) }

  /// Whether the chunk has no part.
  var isEmpty: Bool { unsafe view.presence == 0 }

  @unsafe var bytes: UnsafeRawBufferPointer { unsafe writer.buffer }

  /// Writes the checksum, after which the chunk can be stored.
  ///
  /// - Parameter seed: The number of the chunk.
  func seal(seed: UInt64) {
    writer.patch(unsafe RecordHeader.checksum(of: writer.buffer, seed: seed), at: 0)
  }

  /// Inserts or replaces the part of the object.
  ///
  /// Changes the bytes in place while the chunk stays uniform, and otherwise rebuilds the chunk.
  func set(
    _ part: UnsafeRawBufferPointer,
    layoutNumber: UInt16,
    of objectID: UInt64
  ) throws(RecordError) {
    isChanged = true
    let chunk = unsafe view
    let slot = HotChunk.slot(of: objectID)
    let checksum = unsafe HotChunk.Part(layoutNumber: layoutNumber, bytes: part)
      .checksum(objectID: objectID)
    let stride = HotChunk.checksumSize + part.count
    let isUniform =
      unsafe chunk.presence == 0
      || (chunk.stride == stride && chunk.layoutNumber == layoutNumber)
    guard isUniform, part.count > 0, stride <= Int(UInt16.max) else {
      let copy = Part(checksum: checksum, layoutNumber: layoutNumber, bytes: unsafe Array(part))
      return try replace(slot, with: copy)
    }
    let start = unsafe HotChunk.headerSize + chunk.rank(of: slot) * stride
    if unsafe !chunk.hasPart(at: slot) {
      let presence = unsafe chunk.presence
      writer.insertZeros(stride, at: start)
      writer.patch(presence | 1 << UInt32(slot), at: 4)
      writer.patch(layoutNumber, at: 8)
      writer.patch(UInt16(stride), at: 10)
    }
    writer.patch(checksum, at: start)
    unsafe writer.overwrite(part, at: start + HotChunk.checksumSize)
  }

  /// Removes the part in the slot, if there is one.
  func remove(_ slot: Int) throws(RecordError) {
    guard unsafe view.hasPart(at: slot) else { return }
    isChanged = true
    try replace(slot, with: nil)
  }

  private struct Part {
    var checksum: UInt32
    var layoutNumber: UInt16
    var bytes: [UInt8]
  }

  /// Rebuilds the chunk with the part of one slot replaced or removed.
  private func replace(_ slot: Int, with part: Part?) throws(RecordError) {
    var parts: [(slot: Int, part: Part)] = []
    for other in 0..<(1 << Int(HotChunk.shift)) {
      if other == slot {
        if let part { parts.append((slot, part)) }
      } else if let kept = unsafe try view.entry(at: other) {
        let copy = unsafe Part(
          checksum: kept.checksum,
          layoutNumber: kept.part.layoutNumber,
          bytes: Array(kept.part.bytes)
        )
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
    let stride = HotChunk.checksumSize + (first?.bytes.count ?? 0)
    if isUniform, let first, first.bytes.count > 0, stride <= Int(UInt16.max) {
      writer.write(first.layoutNumber)
      writer.write(UInt16(stride))
      for (_, part) in parts {
        writer.write(part.checksum)
        writer.write(part.bytes)
      }
      return
    }
    writer.write(0 as UInt32)
    var end: UInt32 = 0
    for (_, part) in parts {
      end += UInt32(HotChunk.mixedPrefixSize + part.bytes.count)
      writer.write(end)
    }
    for (_, part) in parts {
      writer.write(part.checksum)
      writer.write(part.layoutNumber)
      writer.write(part.bytes)
    }
  }
}
