import Foundation
import Testing

@testable import ObjectStoreCore

/// Tests the comparison of stored values with those of `isIn`.
@Suite struct StoredEqualityTests {
  /// Checks which of the values match the first `count` of them, whose bytes are in any order.
  private func check<Value: FieldValue & Equatable>(_ values: [Value], first count: Int) throws {
    let wanted = Array(values.prefix(count))
    let equality = StoredEquality(wanted, Set(wanted.map { $0.storedBytes }).sorted())
    for (index, value) in values.enumerated() {
      let matches = try unsafe value.storedBytes.withUnsafeBytes {
        try equality.matches(unsafe $0.bytes)
      }
      #expect(matches == (index < count), "\(value) among \(count)")
    }
  }

  /// Few values are compared one by one, and from 8 on with a binary search.
  @Test(arguments: [1, 2, 7, 8, 9, 30])
  func `a value matches if it is one of the values`(count: Int) throws {
    // The order is not that of the bytes, and some are prefixes of others.
    let numbers = (0..<40).map { $0 * 7 % 40 }
    try check(numbers.map { String(repeating: "k", count: $0) }, first: count)
    try check(numbers.map { "\($0)" }, first: count)
    try check(numbers.map { Data(repeating: UInt8($0), count: $0 % 5) + [UInt8($0)] }, first: count)
    let uuids = numbers.map { number in
      UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(40 - number)))
    }
    try check(uuids, first: count)
    try check(numbers.map { Decimal($0) / 8 }, first: count)
    try check(numbers.map { [Double($0), -0.0] }, first: count)
    try check(numbers.map { Set(["\($0)", "a"]) }, first: count)
  }

  @Test(arguments: [1, 10])
  func `values with different bytes match if they are equal`(count: Int) throws {
    let values = (0..<count).map { [Double($0)] }
    let equality = StoredEquality(values, Set(values.map { $0.storedBytes }).sorted())
    #expect([-0.0].storedBytes != values[0].storedBytes)
    let matches = try unsafe [-0.0].storedBytes.withUnsafeBytes {
      try equality.matches(unsafe $0.bytes)
    }
    #expect(matches)
  }
}
