import Foundation
import Testing

@testable import ObjectStoreCore

@Suite struct KeyEncodingTests {
  /// Expects keys to have the order of the values, also with appended ids.
  private func expectSameOrder<Value: FieldValue>(
    _ values: [Value],
    _ isBefore: (Value, Value) -> Bool
  ) {
    let keys = values.map { KeyEncoding.append(.max, to: KeyEncoding.key(for: $0)) }
    let lowKeys = values.map { KeyEncoding.append(0, to: KeyEncoding.key(for: $0)) }
    for left in values.indices {
      for right in values.indices {
        let expected = isBefore(values[left], values[right])
        let isKeyBefore = keys[left].lexicographicallyPrecedes(lowKeys[right])
        let isEqual = !expected && !isBefore(values[right], values[left])
        #expect(isKeyBefore == expected || isEqual, "\(values[left]) and \(values[right])")
        #expect(isEqual == (keys[left] == keys[right]), "\(values[left]) and \(values[right])")
      }
    }
  }

  private func integers<Value: FixedWidthInteger>(_ type: Value.Type) -> [Value] {
    var random = SeededGenerator(seed: 3)
    return [.min, .max, 0, 1, .max - 1, .min + 1]
      + (0..<60).map { _ in Value.random(in: .min ... .max, using: &random) }
  }

  @Test func `keys of integers are in numeric order`() {
    expectSameOrder(integers(Int8.self), <)
    expectSameOrder(integers(Int16.self), <)
    expectSameOrder(integers(Int32.self), <)
    expectSameOrder(integers(Int64.self), <)
    expectSameOrder(integers(Int.self), <)
    expectSameOrder(integers(UInt8.self), <)
    expectSameOrder(integers(UInt16.self), <)
    expectSameOrder(integers(UInt32.self), <)
    expectSameOrder(integers(UInt64.self), <)
  }

  @Test func `keys of floating-point numbers are in numeric order`() {
    var random = SeededGenerator(seed: 5)
    var doubles: [Double] = [
      0, -0.0, 1, -1, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
      .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .pi,
    ]
    while doubles.count < 80 {
      let value = Double(bitPattern: random.next())
      if !value.isNaN { doubles.append(value) }
    }
    expectSameOrder(doubles, <)
    expectSameOrder(doubles.map { Float($0) }, <)
    expectSameOrder(doubles.map { Date(timeIntervalSinceReferenceDate: $0) }, <)
  }

  @Test func `keys of strings are in byte order`() {
    var random = SeededGenerator(seed: 6)
    let letters: [Character] = ["\0", "\u{1}", "a", "b", "\u{7F}", "\u{E9}", "\u{10FFFF}"]
    var strings = (0..<80).map { _ in
      String((0..<Int.random(in: 0...6, using: &random)).map { _ in random.element(of: letters) })
    }
    for count in 436...440 { strings.append(String(repeating: "k", count: count)) }
    for count in 430...440 { strings.append(String(repeating: "k", count: count - 1) + "\0") }
    expectSameOrder(Array(Set(strings.map { Array($0.utf8) })).map { Data($0) }) {
      $0.lexicographicallyPrecedes($1)
    }
  }

  @Test func `the longest keys fit into the key size limit of LMDB`() {
    for text in ["k", "\0", "\u{10FFFF}"] {
      let key = KeyEncoding.key(for: String(repeating: text, count: 5_000))
      #expect(KeyEncoding.append(0, to: key).count <= 511)
    }
  }

  @Test func `long strings with a common prefix have different keys`() {
    let text = String(repeating: "k", count: 600)
    #expect(KeyEncoding.key(for: text + "a") != KeyEncoding.key(for: text + "b"))
  }

  @Test func `the bytes of keys match the documented format`() {
    #expect(KeyEncoding.key(for: -1 as Int32) == [1, 0x7F, 0xFF, 0xFF, 0xFF])
    #expect(KeyEncoding.key(for: 258 as UInt16) == [1, 1, 2])
    #expect(KeyEncoding.key(for: true) == [1, 1])
    #expect(KeyEncoding.key(for: 1.0) == [1, 0xBF, 0xF0, 0, 0, 0, 0, 0, 0])
    #expect(KeyEncoding.key(for: "a\0b") == [1, 0x61, 0, 0xFF, 0x62, 0, 0])
    #expect(KeyEncoding.append(1, to: KeyEncoding.null) == [0, 0, 0, 0, 0, 0, 0, 0, 1])
  }

  @Test func `the successor of a prefix is the least key beyond it`() {
    #expect(KeyRange.successor(of: [1, 2]) == [1, 3])
    #expect(KeyRange.successor(of: [1, 0xFF, 0xFF]) == [2])
    #expect(KeyRange.successor(of: [0xFF]) == nil)
    #expect(KeyRange.successor(of: []) == nil)
  }
}
