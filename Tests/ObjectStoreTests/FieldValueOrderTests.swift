import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

/// Properties that the values of every type must have.
@Suite struct FieldValueOrderTests {
  @Test func `values of every type round-trip, and their index keys keep their order`() throws {
    try check((0..<100).map { _ in Int8.random(in: .min ... .max) } + [.min, -1, 0, 1, .max])
    try check((0..<100).map { _ in Int16.random(in: .min ... .max) } + [.min, -1, 0, 1, .max])
    try check((0..<100).map { _ in Int32.random(in: .min ... .max) } + [.min, -1, 0, 1, .max])
    try check((0..<100).map { _ in Int64.random(in: .min ... .max) } + [.min, -1, 0, 1, .max])
    try check((0..<100).map { _ in Int.random(in: .min ... .max) } + [.min, -1, 0, 1, .max])
    try check((0..<100).map { _ in UInt8.random(in: .min ... .max) } + [0, 1, .max])
    try check((0..<100).map { _ in UInt16.random(in: .min ... .max) } + [0, 1, .max])
    try check((0..<100).map { _ in UInt32.random(in: .min ... .max) } + [0, 1, .max])
    try check((0..<100).map { _ in UInt64.random(in: .min ... .max) } + [0, 1, .max])
    try check((0..<100).map { _ in UInt.random(in: .min ... .max) } + [0, 1, .max])
    let doubles =
      (0..<200).map { _ in Double(bitPattern: .random(in: .min ... .max)) }.filter { !$0.isNaN }
      + [0, -0.0, 1, -1, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude]
    try check(doubles)
    try check(
      (0..<200).map { _ in Float(bitPattern: .random(in: .min ... .max)) }.filter { !$0.isNaN }
        + [0, -0.0, 1, -1, .infinity, -.infinity]
    )
    try check(doubles.map { Date(timeIntervalSinceReferenceDate: $0) })
    try check((0..<100).map { _ in UUID() }) {
      Self.bytes(of: $0).lexicographicallyPrecedes(Self.bytes(of: $1))
    }
    try check((0..<200).map { _ in Self.text() } + ["", "\0", "a", "a\0", "ab", "ä", "日本"]) {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    try check((0..<200).map { _ in Data(Self.text().utf8) } + [Data(), Data([0]), Data([0, 255])]) {
      $0.lexicographicallyPrecedes($1)
    }
    try check([false, true]) { !$0 && $1 }
    try check(Colour.allCases) { $0.rawValue < $1.rawValue }
    try check((0..<100).map { Reference<City>("\($0)") }) { $0.key < $1.key }
  }

  private func check<Value: FieldValue & Comparable>(_ values: [Value]) throws {
    try check(values) { $0 < $1 }
  }

  private func check<Value: FieldValue & Equatable>(
    _ values: [Value],
    isLess: (Value, Value) -> Bool
  ) throws {
    let keys = values.map { KeyEncoding.key(for: $0) }
    for (value, key) in zip(values, keys) {
      #expect(try Value(stored: value.storedBytes) == value)
      if let width = Value.fieldType.width { #expect(value.storedBytes.count == width) }
      for (other, otherKey) in zip(values, keys)
      where isLess(value, other) != key.lexicographicallyPrecedes(otherKey)
        || (!isLess(value, other) && !isLess(other, value)) != (key == otherKey)
      {
        Issue.record("index keys order \(value) and \(other) of \(Value.fieldType) differently")
      }
    }
  }

  private static func bytes(of uuid: UUID) -> [UInt8] {
    unsafe withUnsafeBytes(of: uuid.uuid) { unsafe Array($0) }
  }

  private static func text() -> String {
    String((0..<Int.random(in: 0...12)).map { _ in "\0\u{1}abyzäß日👩".randomElement() ?? "a" })
  }

  @Test(arguments: 0..<20)
  func `random bytes are decoded or refused`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<200 {
      let count = Int.random(in: 0...40, using: &random)
      let bytes = (0..<count).map { _ in
        Bool.random(using: &random)
          ? UInt8.random(in: 0...3, using: &random) : .random(in: 0...255, using: &random)
      }
      // None of these may trap, and a decoded value must round-trip.
      try expectStable(Decimal.self, bytes)
      try expectStable(URL.self, bytes)
      try expectStable(Address.self, bytes)
      try expectStable([Address].self, bytes)
      try expectStable(Set<Reference<City>>.self, bytes)
      try expectStable([Colour: [Decimal]].self, bytes)
    }
  }

  private func expectStable<Value: FieldValue & Equatable>(
    _ type: Value.Type,
    _ bytes: [UInt8]
  ) throws {
    guard let value = try? Value(stored: bytes) else { return }
    #expect(try Value(stored: value.storedBytes) == value)
  }
}
