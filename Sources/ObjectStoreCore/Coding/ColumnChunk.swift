/// The format of a column chunk: the values of one field of 240 consecutive object ids.
///
/// A column repeats the values of a field apart from the records, so that a condition on the field
/// reads nothing else. All chunks have the same number of slots whatever the width of the field, so
/// that the chunks of several columns line up.
///
/// | bytes | meaning |
/// |---|---|
/// | `u32` | checksum of all following bytes |
/// | `u64` × 4 | bit n is set when object 240 × chunk + n exists; the last 16 bits are 0 |
/// | `u64` × 4 | bit n is set when that object has a value, neither `nil` nor missing |
/// | 240 × width | the values by slot; zeros without a value |
///
/// The checksum is the low 32 bits of an XXH64 hash, seeded with the number of the chunk XOR the id
/// of the field shifted left by 32 bits. So it also detects a chunk that belongs to another column,
/// and a column chunk is never taken for a record. Two entries with values of eight bytes fit on a
/// page of 4096 bytes.
package enum ColumnChunk {
  static let slotCount = 240
  static let objectsOffset = 4
  static let valuesOffset = 36
  static let headerSize = 68

  /// The seed of the checksum.
  static func seed(number: UInt64, fieldID: UInt32) -> UInt64 { number ^ UInt64(fieldID) << 32 }

  /// The size of a chunk of values with this width, in bytes.
  static func size(width: Int) -> Int { headerSize + slotCount * width }

  /// The number of the chunk that holds the object.
  package static func number(of objectID: UInt64) -> UInt64 { objectID / UInt64(slotCount) }

  /// The object's position in its chunk, from 0 to 239.
  package static func slot(of objectID: UInt64) -> Int { Int(objectID % UInt64(slotCount)) }

  /// The slots of a chunk whose objects can exist: all, except in the chunk with the greatest id.
  package static func slots(of number: UInt64) -> ColumnMask {
    guard number == Self.number(of: .max) else { return .all }
    var slots = ColumnMask.all
    for slot in Self.slot(of: .max) + 1..<slotCount { slots.remove(slot) }
    return slots
  }

  /// The id of the object in the first slot.
  ///
  /// Wraps around for a number that no object has.
  package static func firstID(of number: UInt64) -> UInt64 { number &* UInt64(slotCount) }
}

/// A set of slots of a column chunk.
package struct ColumnMask: Sendable, Hashable {
  var words: SIMD4<UInt64>

  /// No slot.
  static let none = Self(words: .zero)
  /// Every slot.
  static let all = Self(words: [.max, .max, .max, .max >> 16])

  static func & (left: Self, right: Self) -> Self { Self(words: left.words & right.words) }
  static func | (left: Self, right: Self) -> Self { Self(words: left.words | right.words) }

  /// The slots that are not in `other`.
  package func subtracting(_ other: Self) -> Self { Self(words: words & ~other.words) }

  /// The number of slots.
  package var count: Int { Int(words.nonzeroBitCount.wrappedSum()) }

  package var isEmpty: Bool { words == .zero }

  func contains(_ slot: Int) -> Bool { words[slot >> 6] >> UInt64(slot & 63) & 1 != 0 }

  mutating func insert(_ slot: Int) { words[slot >> 6] |= 1 << UInt64(slot & 63) }

  mutating func remove(_ slot: Int) { words[slot >> 6] &= ~(1 << UInt64(slot & 63)) }

  /// Removes the slots before `slot`.
  mutating func removeSlots(before slot: Int) {
    for index in 0..<4 {
      let first = index * 64
      if slot >= first + 64 {
        words[index] = 0
      } else if slot > first {
        words[index] &= .max << UInt64(slot - first)
      }
    }
  }
}

extension ColumnMask: Sequence {
  /// Iterates over the slots in ascending order.
  package struct Iterator: IteratorProtocol {
    private let words: SIMD4<UInt64>
    private var index = 0
    /// The rest of the current word.
    private var word: UInt64

    init(_ mask: ColumnMask) {
      words = mask.words
      word = mask.words[0]
    }

    @inline(__always)
    package mutating func next() -> Int? {
      while word == 0 {
        guard index < 3 else { return nil }
        index += 1
        word = words[index]
      }
      defer { word &= word &- 1 }
      return index * 64 + word.trailingZeroBitCount
    }
  }

  @inline(__always)
  package func makeIterator() -> Iterator { Iterator(self) }
}

/// A column chunk in the memory map or in a ``ColumnChunkBuilder``.
@unsafe
package struct ColumnChunkView {
  let base: UnsafeRawPointer
  let width: Int

  /// Verifies the size and the checksum of the chunk.
  package init(_ bytes: UnsafeRawBufferPointer, seed: UInt64, width: Int) throws(RecordError) {
    guard bytes.count == ColumnChunk.size(width: width), let base = bytes.baseAddress else {
      throw RecordError(.truncated)
    }
    let first = unsafe UInt32(littleEndian: base.loadUnaligned(as: UInt32.self))
    guard unsafe first == RecordHeader.checksum(of: bytes, seed: seed) else {
      throw RecordError(.checksumMismatch)
    }
    unsafe self.init(checked: base, width: width)
  }

  /// Wraps bytes that were built in this process or verified before.
  init(checked base: UnsafeRawPointer, width: Int) {
    unsafe self.base = unsafe base
    unsafe self.width = width
  }

  /// The slots whose objects exist.
  package var objects: ColumnMask { unsafe mask(at: ColumnChunk.objectsOffset) }

  /// The slots whose objects have a value.
  var values: ColumnMask { unsafe mask(at: ColumnChunk.valuesOffset) }

  private func mask(at offset: Int) -> ColumnMask {
    var words = SIMD4<UInt64>()
    for index in 0..<4 {
      words[index] = unsafe UInt64(
        littleEndian: base.loadUnaligned(fromByteOffset: offset + index * 8, as: UInt64.self)
      )
    }
    return ColumnMask(words: words)
  }

  /// The address of the first value.
  var firstValue: UnsafeRawPointer { unsafe base + ColumnChunk.headerSize }

  /// The bytes of the value in a slot; zeros without a value.
  func bytes(at slot: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: firstValue + slot * width, count: width)
  }

  /// The content of the field of the object in a slot; `nil` when there is no such object.
  package func content(at slot: Int) -> RecordView.Content? {
    guard unsafe objects.contains(slot) else { return nil }
    return unsafe values.contains(slot) ? .present(bytes(at: slot)) : .null
  }

  /// Whether the chunk has an object, values only of its objects, and zeros in all other slots.
  package var isWellFormed: Bool {
    let (objects, values) = unsafe (objects, values)
    guard !objects.isEmpty, objects.subtracting(.all).isEmpty,
      values.subtracting(objects).isEmpty
    else { return false }
    return ColumnMask.all.subtracting(values).allSatisfy { slot in
      unsafe bytes(at: slot).allSatisfy { $0 == 0 }
    }
  }
}

/// A mutable column chunk.
final class ColumnChunkBuilder: ChunkBuilder {
  private var writer: ByteWriter
  private let width: Int
  private var objects: ColumnMask
  private var values: ColumnMask
  /// Whether an object was set or removed, or a value changed.
  private(set) var isChanged = false

  /// Creates a chunk without objects.
  init(width: Int) {
    self.width = width
    writer = ByteWriter(capacity: ColumnChunk.size(width: width))
    writer.appendZeros(ColumnChunk.size(width: width))
    objects = .none
    values = .none
  }

  init(_ chunk: ColumnChunkView) {
    width = unsafe chunk.width
    writer = ByteWriter(capacity: ColumnChunk.size(width: width))
    unsafe writer.append(
      UnsafeRawBufferPointer(start: chunk.base, count: ColumnChunk.size(width: chunk.width))
    )
    objects = unsafe chunk.objects
    values = unsafe chunk.values
  }

  /// Whether the chunk has no object.
  var isEmpty: Bool { objects.isEmpty }

  /// The bytes of the chunk, valid until the next change.
  ///
  /// The checksum is stale after a change until ``seal(seed:)`` updates it.
  @unsafe var bytes: UnsafeRawBufferPointer { unsafe writer.buffer }

  /// A view of the chunk, valid until the next change.
  @unsafe var view: ColumnChunkView {
    unsafe ColumnChunkView(checked: UnsafeRawPointer(writer.base), width: width)
  }

  /// Writes the checksum, after which the chunk can be stored.
  func seal(seed: UInt64) {
    writer.patch(unsafe RecordHeader.checksum(of: writer.buffer, seed: seed), at: 0)
  }

  /// Sets the content of the field of the object in a slot.
  ///
  /// - Throws: ``RecordError`` with `truncated` if a value does not have the width of the field.
  func set(_ content: RecordView.Content, at slot: Int) throws(RecordError) {
    let offset = ColumnChunk.headerSize + slot * width
    if !objects.contains(slot) {
      objects.insert(slot)
      writeWord(objects, slot, at: ColumnChunk.objectsOffset)
      isChanged = true
    }
    guard case .present(let bytes) = unsafe content else { return clearValue(at: slot) }
    guard bytes.count == width else { throw RecordError(.truncated) }
    if values.contains(slot) {
      let stored = unsafe UnsafeRawBufferPointer(
        rebasing: writer.buffer[offset..<offset + width]
      )
      if unsafe stored.isSame(as: bytes) { return }
    } else {
      values.insert(slot)
      writeWord(values, slot, at: ColumnChunk.valuesOffset)
    }
    unsafe writer.overwrite(bytes, at: offset)
    isChanged = true
  }

  /// Removes the object in a slot, if there is one.
  func remove(_ slot: Int) {
    guard objects.contains(slot) else { return }
    clearValue(at: slot)
    objects.remove(slot)
    writeWord(objects, slot, at: ColumnChunk.objectsOffset)
    isChanged = true
  }

  private func clearValue(at slot: Int) {
    guard values.contains(slot) else { return }
    values.remove(slot)
    writeWord(values, slot, at: ColumnChunk.valuesOffset)
    for index in 0..<width {
      writer.patch(0 as UInt8, at: ColumnChunk.headerSize + slot * width + index)
    }
    isChanged = true
  }

  private func writeWord(_ mask: ColumnMask, _ slot: Int, at offset: Int) {
    writer.patch(mask.words[slot >> 6], at: offset + (slot >> 6) * 8)
  }
}
