import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite struct StoredValueTests {
  private func decode(_ bytes: [UInt8], _ type: FieldType) throws -> StoredValue {
    try bytes.withRawSpan { try StoredValue($0, type: type) }
  }

  @Test(arguments: 0..<20)
  func `a value of any type round-trips through bytes and JSON`(seed: UInt64) throws {
    var random = RandomValues(SplitMix64(seed: seed))
    for _ in 0..<100 {
      let type = random.type()
      let value = try random.value(of: type)
      let bytes = try #require(try value.bytes(as: type))
      // Compares bytes, because NaN does not equal itself.
      #expect(try decode(bytes, type).bytes(as: type) == bytes)

      var text: [UInt8] = []
      value.json.write(to: &text)
      #expect(!text.contains { $0 < 0x20 })
      let read = try #require(StoredValue(json: try JSONParser.parse(text), type: type))
      let shown = String(decoding: text, as: UTF8.self)
      #expect(try read.bytes(as: type) == bytes, "\(type): \(shown)")
    }
  }

  @Test(arguments: [
    "1e-9223372036854775808", "1e9223372036854775807", "1e-9223372036854775809", "1e-1000",
    "1e1000",
    "-0.1e-999", "340282366920938463463374607431768211456", "1.5e-199",
  ])
  func `a decimal that is out of range is refused`(text: String) throws {
    let json = try JSONParser.parse(Array(text.utf8))
    #expect(StoredValue(json: json, type: .decimal) == nil)
  }

  @Test(arguments: ["", "e", "E5", "1e", "e1e2", "1e2e3", ".", "-", "-e5", "+"])
  func `a decimal without digits is refused`(text: String) {
    // The command line passes the user's text as a number.
    #expect(StoredValue(json: .number(text), type: .decimal) == nil)
  }

  @Test func `Swift values and stored values have the same bytes`() throws {
    func check<Value: FieldValue>(_ value: Value, _ expected: StoredValue) throws {
      #expect(try decode(value.storedBytes, Value.fieldType) == expected)
      #expect(try expected.bytes(as: Value.fieldType) == value.storedBytes)
    }
    try check(true, .bool(true))
    try check(Int8.min, .signed(-128))
    try check(Int.max, .signed(.max))
    try check(UInt16.max, .unsigned(65_535))
    try check(UInt64.max, .unsigned(.max))
    try check(Float(0.1), .float(0.1))
    try check(-0.5, .double(-0.5))
    let date = Date(timeIntervalSinceReferenceDate: 1.5)
    try check(date, .date(date))
    try check("Gr\u{FC}n", .string("Gr\u{FC}n"))
    try check(Data([0, 255]), .data(Data([0, 255])))
    try check(["b", "a"], .array([.string("b"), .string("a")]))
    try check(Set(["aa", "b"]), .set([.string("b"), .string("aa")]))
    try check([2: "x"], .dictionary([StoredValue.Entry(key: .signed(2), value: .string("x"))]))
    try check(Colour.green, .string("green"))
    try check(Point(x: 1, y: -1), .embedded(Data([1, 0, 0, 0, 255, 255, 255, 255])))
  }

  @Test(arguments: [
    (StoredValue.signed(128), FieldType.signed(bits: 8)), (.signed(-129), .signed(bits: 8)),
    (.unsigned(256), .unsigned(bits: 8)), (.signed(1), .unsigned(bits: 8)),
    (.string("a"), .data), (.array([.null]), .array(.string)),
    (.set([.string("a"), .string("a")]), .set(.string)),
    (.dictionary([.init(key: .null, value: .bool(true))]), .dictionary(.string, .bool)),
    (
      .dictionary(Array(repeating: .init(key: .bool(true), value: .bool(true)), count: 2)),
      .dictionary(.bool, .bool)
    ),
  ])
  func `encoding a value as another type throws`(value: StoredValue, type: FieldType) {
    #expect(throws: RecordError.self) { try value.bytes(as: type) }
  }

  @Test(arguments: [
    ([2], FieldType.bool), ([1, 0], .bool), ([0xFF], .string), ([1, 0, 0, 0], .array(.bool)),
    ([255, 255, 255, 255], .array(.string)), ([2, 0, 0, 0, 1, 0], .set(.bool)),
    ([2, 0, 0, 0, 1, 1], .set(.bool)), ([2, 0, 0, 0, 1, 0, 0, 0], .dictionary(.bool, .bool)),
    ([2, 0, 0, 0, 1, 0, 1, 1], .dictionary(.bool, .bool)), ([1, 2, 3], .uuid),
  ])
  func `decoding invalid bytes throws`(bytes: [UInt8], type: FieldType) {
    #expect(throws: RecordError.self) { try decode(bytes, type) }
  }

  @Test func `random bytes decode to a value or throw`() throws {
    var generator = SplitMix64(seed: 11)
    var random = RandomValues(SplitMix64(seed: 12))
    var refused = 0
    for _ in 0..<5_000 {
      let type = random.type()
      let bytes = (0..<Int.random(in: 0..<24, using: &generator)).map { _ in
        UInt8.random(in: 0..<4, using: &generator)
      }
      do { _ = try decode(bytes, type) } catch is RecordError { refused += 1 }
    }
    #expect((1..<5_000).contains(refused))
  }
}
