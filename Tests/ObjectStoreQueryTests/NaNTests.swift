import Foundation
import ObjectStore
import TestSupport
import Testing

/// Tests that the least and the greatest value of a field are never NaN.
@Suite struct NaNTests {
  /// A number with its own order, which no index serves.
  struct Celsius: RawRepresentable, Comparable, FieldValue {
    var rawValue: Double

    static func < (left: Celsius, right: Celsius) -> Bool { left.rawValue < right.rawValue }
  }

  struct Offer: Model {
    struct Columns: Sendable {
      let id = Column<Offer, Int>(position: 0)
      let price = Column<Offer, Decimal>(position: 1)
      let fee = Column<Offer, Decimal?>(position: 2)
      let warmth = Column<Offer, Celsius>(position: 3)
    }

    static let columns = Columns()
    static let schema = ModelSchema(
      name: "Offer",
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true),
        FieldSchema("price", Decimal.self, isIndexed: true),
        FieldSchema("fee", Decimal.self, isOptional: true),
        FieldSchema("warmth", Celsius.self),
      ]
    )

    var id: Int
    var price: Decimal
    var fee: Decimal?
    var warmth: Celsius
    var primaryKey: Int { id }

    init(id: Int, price: Decimal, fee: Decimal?, warmth: Double) {
      self.id = id
      self.price = price
      self.fee = fee
      self.warmth = Celsius(rawValue: warmth)
    }

    init(from record: borrowing RecordView) throws(RecordError) {
      id = try record.value(at: 0)
      price = try record.value(at: 1)
      fee = try record.optional(at: 2)
      warmth = try record.value(at: 3)
    }

    func encode(to record: inout RecordEncoder) {
      record.encode(id)
      record.encode(price)
      record.encode(fee)
      record.encode(warmth)
    }
  }

  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Offer.self])
    try store.write { tx in
      try tx.insert(Offer(id: 0, price: .nan, fee: .nan, warmth: .nan))
      try tx.insert(Offer(id: 1, price: 3, fee: 3, warmth: 3))
      try tx.insert(Offer(id: 2, price: 1, fee: nil, warmth: 1))
      try tx.insert(Offer(id: 3, price: -2, fee: -2, warmth: -2))
      try tx.insert(Offer(id: 4, price: .nan, fee: .nan, warmth: .nan))
    }
  }

  @Test func `the least and the greatest value ignore NaN, whatever the type`() throws {
    try store.read { tx throws in
      #expect(try tx.min(Offer.all, of: \.price) == -2)
      #expect(try tx.max(Offer.all, of: \.price) == 3)
      #expect(try tx.min(Offer.all, of: \.fee) == -2)
      #expect(try tx.max(Offer.all, of: \.fee) == 3)
      #expect(try tx.min(Offer.all, of: \.warmth)?.rawValue == -2)
      #expect(try tx.max(Offer.all, of: \.warmth)?.rawValue == 3)
    }
  }

  @Test func `values that are all NaN have no least and no greatest one`() throws {
    try store.read { tx throws in
      let query = Offer.where { $0.id.isIn([0, 4]) }
      #expect(try tx.min(query, of: \.price) == nil)
      #expect(try tx.max(query, of: \.fee) == nil)
      #expect(try tx.min(query, of: \.warmth) == nil)
      #expect(try tx.max(query, of: \.warmth) == nil)
    }
  }
}
