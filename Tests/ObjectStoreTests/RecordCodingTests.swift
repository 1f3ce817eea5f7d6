import Foundation
import Testing

@testable import ObjectStoreCore

@Suite struct RecordCodingTests {
  static let layout = RecordLayout(Everything.schema)
  static let binding = LayoutBinding(reading: layout, number: 3, as: layout)

  private struct Parts: Equatable {
    var cold: [UInt8]
    /// A chunk that contains only the hot part of the object.
    var hot: [UInt8]
  }

  private func encode(_ object: Everything, id: UInt64, extras: [UInt8] = []) -> Parts {
    var encoder = RecordEncoder(Self.binding)
    encoder.start()
    object.encode(to: &encoder)
    encoder.finish(extras: extras)
    encoder.seal(objectID: id)
    let chunk = HotChunkBuilder()
    unsafe try? chunk.set(encoder.hot.buffer, layoutNumber: 3, of: id)
    chunk.seal(seed: HotChunk.number(of: id))
    return unsafe Parts(cold: encoder.cold.bytes, hot: Array(chunk.view.bytes))
  }

  private func decode(_ parts: Parts, id: UInt64) throws -> Everything {
    try withView(of: parts, id: id) { try Everything(from: $0) }
  }

  private func withView<R>(
    of parts: Parts,
    id: UInt64,
    _ body: (borrowing RecordView) throws -> R
  ) throws -> R {
    try unsafe parts.cold.withUnsafeBytes { cold in
      try unsafe parts.hot.withUnsafeBytes { hot in
        let chunk = unsafe try HotChunkView(hot, number: HotChunk.number(of: id))
        let view = unsafe try RecordView(
          cold: cold,
          hot: chunk.part(at: HotChunk.slot(of: id)),
          objectID: id,
          layout: Self.binding.reference
        )
        return try body(view)
      }
    }
  }

  /// Recomputes the checksum of the only part of a chunk.
  private func sealPart(_ hot: inout [UInt8], id: UInt64) {
    let start = HotChunk.headerSize + HotChunk.checksumSize
    guard hot.count >= start else { return }
    var writer = ByteWriter()
    writer.write(hot)
    let checksum = unsafe hot.withUnsafeBytes { bytes in
      unsafe HotChunk.Part(
        layoutNumber: UInt16(bytes[8]) | UInt16(bytes[9]) << 8,
        bytes: UnsafeRawBufferPointer(rebasing: bytes[start...])
      ).checksum(objectID: id)
    }
    writer.patch(checksum, at: HotChunk.headerSize)
    hot = writer.bytes
  }

  /// Decodes as a point lookup does, which checks only the part of its own object.
  private func decodeByLookup(_ parts: Parts, id: UInt64) throws -> Everything {
    try unsafe parts.cold.withUnsafeBytes { cold in
      try unsafe parts.hot.withUnsafeBytes { hot in
        let view = unsafe try RecordView(
          cold: cold,
          hot: HotChunkView(measured: hot).checkedPart(of: id),
          objectID: id,
          layout: Self.binding.reference
        )
        return try Everything(from: view)
      }
    }
  }

  /// Recomputes the checksum, so that the decoder checks the contents.
  private func sealed(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
    guard bytes.count >= 4 else { return bytes }
    var writer = ByteWriter()
    writer.write(bytes)
    let checksum = unsafe bytes.withUnsafeBytes {
      unsafe RecordHeader.checksum(of: $0, seed: seed)
    }
    writer.patch(checksum, at: 0)
    return writer.bytes
  }

  @Test(arguments: [Everything(), .full]) func `a record decodes to its object`(
    object: Everything
  ) throws {
    #expect(try decode(encode(object, id: 5), id: 5) == object)
  }

  @Test func `the bytes of a record match the documented format`() {
    let parts = encode(.full, id: 5)
    #expect(hex(parts.cold) == Self.goldenCold)
    #expect(hex(parts.hot) == Self.goldenHot)
  }

  @Test func `the bytes of a layout match the documented format`() throws {
    let layout = RecordLayout(
      ModelSchema(
        name: "Note",
        fields: [
          FieldSchema("id", Int64.self, id: 1, isPrimaryKey: true),
          FieldSchema("text", String.self, isOptional: true, isHot: true),
        ]
      )
    )
    #expect(hex(layout.encoded) == Self.goldenLayout)
    let decoded = try unsafe layout.encoded.withUnsafeBytes { bytes in
      var reader = unsafe ByteReader(bytes)
      return try RecordLayout(encoded: &reader)
    }
    #expect(decoded == layout)
  }

  @Test func `decoding throws for every flipped bit`() throws {
    let parts = encode(.full, id: 5)
    for bit in 0..<parts.cold.count * 8 {
      var damaged = parts
      damaged.cold[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: RecordError.self) { try decode(damaged, id: 5) }
    }
    for bit in 0..<parts.hot.count * 8 {
      var damaged = parts
      damaged.hot[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: RecordError.self) { try decode(damaged, id: 5) }
      // A point lookup ignores the checksum of the chunk.
      if bit < 32 {
        #expect(try decodeByLookup(damaged, id: 5) == .full)
      } else {
        #expect(throws: RecordError.self) { try decodeByLookup(damaged, id: 5) }
      }
    }
  }

  /// Tests chunks of five objects, with parts of the same size and of different sizes.
  @Test(arguments: [true, false])
  func `a point lookup in a chunk with a flipped bit returns the original part or throws`(
    hasEqualSizes: Bool
  ) throws {
    let ids: [UInt64] = [0, 3, 4, 30, 31]
    let builder = HotChunkBuilder()
    var own: [UInt64: [UInt8]] = [:]
    for id in ids {
      let size = hasEqualSizes ? 9 : 5 + Int(id % 3)
      let part = (0..<size).map { UInt8(truncatingIfNeeded: $0 * 7 ^ Int(id)) }
      own[id] = part
      let layoutNumber: UInt16 = hasEqualSizes ? 3 : 3 + UInt16(id % 2)
      try unsafe part.withUnsafeBytes {
        unsafe try builder.set($0, layoutNumber: layoutNumber, of: id)
      }
    }
    builder.seal(seed: 0)
    let intact = unsafe Array(builder.view.bytes)
    #expect(unsafe (builder.view.stride > 0) == hasEqualSizes)
    var refused = 0
    for bit in 0..<intact.count * 8 {
      var bytes = intact
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe #expect(throws: RecordError.self) { unsafe try HotChunkView(bytes, number: 0) }
        for id in ids {
          do {
            guard let part = unsafe try HotChunkView(measured: bytes).checkedPart(of: id) else {
              // The flipped bit is the presence bit of this part.
              #expect(bit == 32 + Int(id))
              continue
            }
            #expect(unsafe Array(part.bytes) == own[id])
            #expect(unsafe part.layoutNumber == (hasEqualSizes ? 3 : 3 + UInt16(id % 2)))
          } catch {
            refused += 1
          }
        }
      }
    }
    #expect(refused > intact.count * 8 / 2)
  }

  @Test func `a hot part under the id of another object throws checksumMismatch`() throws {
    var parts = encode(.full, id: 5)
    // Object 6 instead of object 5.
    parts.hot[4] = 1 << 6
    #expect(throws: RecordError(.checksumMismatch)) {
      try unsafe parts.hot.withUnsafeBytes {
        _ = unsafe try HotChunkView(measured: $0).checkedPart(of: 6)
      }
    }
  }

  @Test func `a record under the id of another object throws checksumMismatch`() {
    #expect(throws: RecordError(.checksumMismatch)) { try decode(encode(.full, id: 5), id: 6) }
  }

  @Test func `a hot part with an unknown layout number throws unknownLayout`() throws {
    var parts = encode(.full, id: 5)
    parts.hot[8] = 4
    parts.hot = sealed(parts.hot, seed: 0)
    #expect(throws: RecordError(.unknownLayout)) { try decode(parts, id: 5) }
  }

  /// Decodes ten thousand damaged records with correct checksums; none may trap.
  @Test(arguments: 0..<10) func `random changes with correct checksums are decoded or refused`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    var extras = ByteWriter()
    extras.write(9 as UInt32)
    extras.write(1 as UInt8)
    extras.writeSized("int64")
    extras.write(8 as UInt32)
    extras.write(-1 as Int64)
    let intact = encode(.full, id: 5, extras: extras.bytes)
    var readable = 0
    for _ in 0..<1_000 {
      var parts = intact
      mutate(&parts.cold, &random)
      if Bool.random(using: &random) { mutate(&parts.hot, &random) }
      parts.cold = sealed(parts.cold, seed: 5)
      if Bool.random(using: &random) { sealPart(&parts.hot, id: 5) }
      parts.hot = sealed(parts.hot, seed: 0)
      do {
        _ = try withView(of: parts, id: 5) { record in
          _ = try record.encodedUnknownFields()
          for position in 0..<20 {
            guard case .present(let bytes) = unsafe try? record.content(at: position) else {
              continue
            }
            _ = unsafe KeyEncoding.key(for: bytes, type: .string)
            for type in [FieldType.signed(bits: 64), .string] {
              _ = unsafe try? KeyEncoding.elementKeys(of: bytes, type: type)
            }
          }
          _ = unsafe try? record.content(ofID: 9)
          return try Everything(from: record)
        }
        readable += 1
      } catch is RecordError {}
      do {
        _ = try decodeByLookup(parts, id: 5)
      } catch is RecordError {}
    }
    #expect((1..<1_000).contains(readable))
  }

  private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
    case 1:
      bytes.append(contentsOf: (0..<9).map { _ in UInt8.random(in: 0...255, using: &random) })
    default:
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let offset = Int.random(in: 4..<bytes.count, using: &random)
        bytes[offset] = random.element(of: [0, 1, 0x7F, 0x80, 0xFF, 0x10])
      }
    }
  }

  @Test func `random changes of a layout are decoded or refused`() {
    var random = SeededGenerator(seed: 4)
    let intact = Self.layout.encoded
    for _ in 0..<5_000 {
      var bytes = intact
      mutate(&bytes, &random)
      _ = unsafe bytes.withUnsafeBytes { bytes in
        var reader = unsafe ByteReader(bytes)
        return try? RecordLayout(encoded: &reader)
      }
    }
    let nested = String(repeating: "array<", count: 100_000) + "bool"
    var writer = ByteWriter()
    writer.write(1 as UInt8)
    writer.write(1 as UInt16)
    writer.write(1 as UInt32)
    writer.write(0 as UInt8)
    writer.writeSized("deep")
    writer.writeSized(nested)
    #expect(throws: RecordError.self) {
      try unsafe writer.bytes.withUnsafeBytes { bytes in
        var reader = unsafe ByteReader(bytes)
        _ = try RecordLayout(encoded: &reader)
      }
    }
  }

  @Test func `equal sets and dictionaries have equal bytes`() {
    let names = (0..<50).map { "name \($0)" }
    let first = Everything(
      tags: Set(names),
      map: Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })
    )
    let second = Everything(
      tags: Set(names.reversed()),
      map: Dictionary(uniqueKeysWithValues: names.reversed().map { ($0, 1) })
    )
    #expect(encode(first, id: 1) == encode(second, id: 1))
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  static let goldenCold = """
    7d5217e803000100ffff03070000000000000001fdffffffffffffffffffff0000c0bf182d4454fb\
    2109400000208093dcc4410102030405060708090a0b0c0d0e0f10ffffffffffffffff0f00000012\
    000000160000001e000000300000003f00000061000000650000004772c3bcc39f652c20e4b896e7\
    958c00ff01626c7565ffffffff020000000300000001000000620000000001000000610200000001\
    0000007802000000797902000000030000006f6e6501000000000000000300000074776f02000000\
    0000000068657265
    """

  static let goldenHot = """
    dd7359512000000003001400d2f850dc03000000000001000003000000686f74
    """

  static let goldenLayout = """
    010200010000000402000000696405000000696e7436343e4ee6bd03040000007465787406000000\
    737472696e67
    """
}
