import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite struct FieldValueDecimalTests {
  private static let greatest = Decimal.greatestFiniteMagnitude
  private static let least = Decimal.leastNonzeroMagnitude

  /// Boundary values of `Decimal`, and random numbers of all lengths.
  private static let numbers: [Decimal] = {
    var numbers: [Decimal] = [
      0, 1, -1, 10, 0.1, 1.5, -1.5, .nan, greatest, -greatest, least, -least, .pi,
      greatest - Decimal(sign: .plus, exponent: 127, significand: 1),
    ]
    for text in [
      "1.0", "1.00", "100e-2", "0.1e1", "340282366920938463463374607431768211455",
      "340282366920938463463374607431768211454", "-340282366920938463463374607431768211455",
      "12345678901234567890123456789012345678", "1234567890123456789", "12345678901234567890",
      "9999999999999999999", "10000000000000000000", "99999999999999999999", "1e127", "1e-128",
      "100000000000000000000000000000000000000e127", "-1200e127", "239421830825407858717703500e127",
      "340282366920938463463374607431768211400e127", "23942183082540785871770352996495657388e127",
      "0.30", "0.3", "-0.3", "1e38", "1e39", "-0",
    ] {
      if let number = Decimal(string: text) { numbers.append(number) }
    }
    var random = SeededGenerator(seed: 7)
    for _ in 0..<350 {
      let shift = UInt128.random(in: 0...127, using: &random)
      let mantissa = UInt128.random(in: 0 ... .max, using: &random) >> shift
      let exponent = Int.random(in: -128...127, using: &random)
      let sign = Bool.random(using: &random) ? "-" : ""
      if let number = Decimal(string: "\(sign)\(mantissa)e\(exponent)") { numbers.append(number) }
    }
    return numbers
  }()

  @Test func `a decimal round-trips`() throws {
    #expect(Self.numbers.count > 250)
    for number in Self.numbers {
      let decoded = try Decimal(stored: number.storedBytes)
      #expect(decoded == number && decoded.isNaN == number.isNaN)
      // `Decimal` equality can be inexact, so the descriptions are compared as well.
      #expect(decoded.description == number.description)
    }
  }

  @Test func `the greatest decimals round-trip, with and without trailing zeros`() throws {
    var random = SeededGenerator(seed: 8)
    var readCount = 0
    for _ in 0..<2_000 {
      let digits = Int.random(in: 1...38, using: &random)
      let mantissa = (0..<digits).map { _ in "\(Int.random(in: 0...9, using: &random))" }.joined()
      let exponent = Int.random(in: 120...166, using: &random) - digits
      let zeros = String(repeating: "0", count: max(exponent - 127, 0))
      let text = "\(mantissa)\(zeros)e\(min(exponent, 127))"
      guard let number = Decimal(string: text), !number.isNaN else { continue }
      readCount += 1
      let decoded = try Decimal(stored: number.storedBytes)
      #expect(decoded == number && !decoded.isNaN)
    }
    #expect(readCount > 1_000)
  }

  @Test func `the byte order of decimals is their numeric order`() {
    let stored = Self.numbers.map { (number: $0, bytes: $0.storedBytes) }
    for one in stored {
      for other in stored {
        let isLess = one.bytes.lexicographicallyPrecedes(other.bytes)
        if isLess != (one.number < other.number && one.number != other.number) {
          Issue.record("\(one.number) and \(other.number) have a different order as bytes")
        }
        if (one.bytes == other.bytes) != (one.number == other.number) {
          Issue.record(
            "\(one.number) and \(other.number) are equal only as numbers or only as bytes"
          )
        }
      }
    }
  }

  @Test func `the stored size of a decimal is the width of its type`() {
    for number in Self.numbers {
      #expect(number.storedBytes.count == Decimal.fieldType.width)
    }
    #expect(FieldType("decimal") == Decimal.fieldType)
  }

  @Test func `the bytes of decimals match the documented format`() {
    let digits: [UInt8] = [0x14, 0xD1, 0x12, 0x0D, 0x7B, 0x16, 0x00, 0x00]  // 15 × 10^17
    let rest = [UInt8](repeating: 0, count: 9)
    #expect((1.5 as Decimal).storedBytes == [0x82, 0x01] + digits + rest)
    #expect((-1.5 as Decimal).storedBytes == ([0x82, 0x01] + digits + rest).map { ~$0 })
    #expect((0 as Decimal).storedBytes == [0x80] + [UInt8](repeating: 0, count: 18))
    #expect(Decimal.nan.storedBytes == [UInt8](repeating: 0, count: 19))
  }

  @Test(arguments: [
    [UInt8](repeating: 0xFF, count: 19),
    [UInt8](repeating: 0, count: 18),
    [0x82, 0x01] + [UInt8](repeating: 0, count: 17),
    [0x80, 0x00] + [UInt8](repeating: 0, count: 16) + [1],
    // 10^(127 + 40)
    [0x82, 0xA8, 0x0D, 0xE0, 0xB6, 0xB3, 0xA7, 0x64, 0x00, 0x00] + [UInt8](repeating: 0, count: 9),
  ])
  func `decoding invalid decimal bytes throws`(bytes: [UInt8]) {
    #expect(throws: RecordError.self) { try Decimal(stored: bytes) }
  }

  @Test func `range queries on a decimal index match Swift's comparison`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [Price.self])
    let amounts = Array(Self.numbers.prefix(120))
    try store.write { tx in
      for (id, amount) in amounts.enumerated() {
        try tx.insert(Price(id: id, amount: amount, link: nil))
      }
    }
    try store.read { tx throws in
      for bound in [0, 1, -1.5, Self.greatest, Decimal.nan] + amounts.prefix(30) {
        let below = Query(Price.columns.amount < bound)
        let from = Query(Price.columns.amount >= bound)
        let same = Query(Price.columns.amount == bound)
        let isBelow = amounts.indices.filter { amounts[$0] < bound && amounts[$0] != bound }
        #expect(try Set(tx.fetch(below).map(\.id)) == Set(isBelow))
        #expect(try Set(tx.fetch(from).map(\.id)) == Set(amounts.indices).subtracting(isBelow))
        #expect(
          try Set(tx.fetch(same).map(\.id)) == Set(amounts.indices.filter { amounts[$0] == bound })
        )
        for query in [below, from, same] {
          #expect((try tx.explain(query)).description.contains("index (amount)"))
        }
      }
    }
  }
}

extension FieldValue {
  /// Reads a value from its stored bytes.
  init(stored bytes: [UInt8]) throws {
    self = try unsafe bytes.withUnsafeBytes { bytes in
      var reader = unsafe ByteReader(bytes)
      return try Self(from: &reader)
    }
  }
}

/// A model with an indexed decimal and an indexed URL.
struct Price: Model, Equatable {
  struct Columns: Sendable {
    let id = Column<Price, Int>(position: 0)
    let amount = Column<Price, Decimal>(position: 1)
    let link = Column<Price, URL?>(position: 2)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Price",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("amount", Decimal.self, default: 0, isIndexed: true),
      FieldSchema("link", URL.self, isOptional: true, isIndexed: true),
    ]
  )

  var id: Int
  var amount: Decimal
  var link: URL?
  var primaryKey: Int { id }

  init(id: Int, amount: Decimal, link: URL?) {
    self.id = id
    self.amount = amount
    self.link = link
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    amount = try record.value(at: 1)
    link = try record.optional(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(amount)
    record.encode(link)
  }
}
