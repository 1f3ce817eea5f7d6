import Foundation
import MigrationTesting
import ObjectStore
import TestSupport
import Testing

/// A model with a decimal.
private struct Priced: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Priced",
    fields: [
      FieldSchema("id", Int64.self, isPrimaryKey: true), FieldSchema("price", Decimal.self),
    ]
  )
  var primaryKey: Int64
  var price: Decimal

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
    price = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(primaryKey)
    record.encode(price)
  }
}

@Suite struct GeneratedObjectsTests {
  @Test func `random decimals are whole, broken, very large and very small`() throws {
    let folder = try TemporaryFolder()
    let releases = SchemaFolder(folder.path("Migrations"))
    try releases.accept([Priced.self], version: 1)
    _ = try releases.release([Priced.self], version: 1)
    let options = StoreOptions(schemaVersion: 1)
    let tester = MigrationTester(models: [Priced.self], options: options)
    try tester.checkResult(.generated(from: releases, release: 1, count: 200)) { store in
      let prices = try store.read { try $0.fetch(Priced.all).map(\.price) }
      #expect(prices.count == 200)
      #expect(prices.contains { $0.magnitude > 1e20 })
      #expect(prices.contains { $0.magnitude < 1e-10 && $0 != 0 })
      #expect(prices.contains { $0.magnitude > 1 && "\($0)".contains(".") })
      #expect(prices.contains { $0.magnitude > 1 && !"\($0)".contains(".") })
    }
  }
}
