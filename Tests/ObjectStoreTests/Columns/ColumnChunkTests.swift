import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite struct ColumnChunkTests {
  @Test func `a chunk has the documented bytes`() throws {
    let chunk = ColumnChunkBuilder(width: 2)
    for (slot, value) in [(0, 0x0102), (64, nil), (239, 0xFFFE)] as [(Int, UInt16?)] {
      try chunk.set(value, at: slot)
    }
    chunk.seal(seed: 3)
    let bytes = unsafe Array(chunk.bytes)
    #expect(bytes.count == 68 + 480)
    #expect(bytes[4..<12] == [1, 0, 0, 0, 0, 0, 0, 0])
    #expect(bytes[12..<20] == [1, 0, 0, 0, 0, 0, 0, 0])
    #expect(bytes[28..<36] == [0, 0, 0, 0, 0, 0x80, 0, 0])
    #expect(bytes[36..<44] == [1, 0, 0, 0, 0, 0, 0, 0])
    #expect(bytes[44..<52].allSatisfy { $0 == 0 })
    #expect(bytes[68..<70] == [2, 1])
    #expect(bytes[546..<548] == [0xFE, 0xFF])
    let checksum = UInt32(truncatingIfNeeded: XXHash64.hash(Array(bytes[4...]), seed: 3))
    #expect(
      bytes[..<4].elementsEqual((0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) })
    )
  }

  @Test func `two chunks of eight-byte values fit on a page`() {
    // A page of 4096 bytes has a header of 16; an entry has a pointer of 2, a header of 8 and a key
    // of 8 bytes.
    #expect(2 * (2 + 8 + 8 + ColumnChunk.size(width: 8)) <= 4_096 - 16)
  }

  @Test func `setting a value again or removing a missing object changes nothing`() throws {
    let first = ColumnChunkBuilder(width: 2)
    try first.set(7, at: 9)
    first.seal(seed: 1)
    let stored = unsafe Array(first.bytes)
    try unsafe stored.withUnsafeBytes { bytes in
      let chunk = unsafe ColumnChunkBuilder(try ColumnChunkView(bytes, seed: 1, width: 2))
      try chunk.set(7, at: 9)
      chunk.remove(10)
      #expect(!chunk.isChanged)
      try chunk.set(nil, at: 9)
      #expect(chunk.isChanged)
      #expect(unsafe chunk.view.isWellFormed)
      chunk.remove(9)
      #expect(chunk.isEmpty)
      #expect(unsafe chunk.bytes.dropFirst(4).allSatisfy { $0 == 0 })
    }
  }

  @Test func `damaged bytes are refused`() throws {
    let chunk = ColumnChunkBuilder(width: 2)
    try chunk.set(7, at: 9)
    chunk.seal(seed: 1)
    let stored = unsafe Array(chunk.bytes)
    func code(_ bytes: [UInt8], seed: UInt64 = 1, width: Int = 2) -> RecordError.Code? {
      unsafe bytes.withUnsafeBytes { bytes in
        do throws(RecordError) {
          _ = unsafe try ColumnChunkView(bytes, seed: seed, width: width)
          return nil
        } catch {
          return error.code
        }
      }
    }
    #expect(code(stored) == nil)
    #expect(code(stored, seed: 2) == .checksumMismatch)
    #expect(code(stored, width: 4) == .truncated)
    #expect(code(Array(stored.dropLast())) == .truncated)
    for index in [0, 5, 40, 86, stored.count - 1] {
      var damaged = stored
      damaged[index] ^= 1
      #expect(code(damaged) == .checksumMismatch)
    }
  }

  @Test func `a mask lists its slots in order`() {
    var random = SplitMix64(seed: 1)
    for _ in 0..<100 {
      var mask = ColumnMask.none
      let slots = Set((0..<50).map { _ in Int.random(in: 0..<240, using: &random) })
      for slot in slots { mask.insert(slot) }
      #expect(mask.count == slots.count)
      let first = Int.random(in: 0...240, using: &random)
      mask.removeSlots(before: first)
      let found = Array(mask)
      #expect(found == slots.filter { $0 >= first }.sorted())
      #expect(ColumnMask.all.subtracting(mask).count == 240 - found.count)
    }
  }
}

extension ColumnChunkBuilder {
  fileprivate func set(_ value: UInt16?, at slot: Int) throws {
    guard let value else { return unsafe try set(.null, at: slot) }
    try unsafe value.storedBytes.withUnsafeBytes { unsafe try set(.present($0), at: slot) }
  }
}
