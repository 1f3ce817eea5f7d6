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

/// A model whose objects refer to others of it.
private struct Tree: Model {
  struct Columns: Sendable {}
  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Tree",
      fields: [
        FieldSchema("id", Int64.self, isPrimaryKey: true),
        FieldSchema("parent", Reference<Tree>.self),
        FieldSchema("twin", Reference<Tree>.self, isOptional: true),
        FieldSchema("list", [Reference<Tree>].self),
        FieldSchema("set", Set<Reference<Tree>>.self),
      ]
    )
  }
  var primaryKey: Int64
  var parent: Reference<Tree>
  var twin: Reference<Tree>?
  var list: [Reference<Tree>]
  var set: Set<Reference<Tree>>

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
    parent = try record.value(at: 1)
    twin = try record.optional(at: 2)
    list = try record.value(at: 3)
    set = try record.value(at: 4)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(primaryKey)
    record.encode(parent)
    record.encode(twin)
    record.encode(list)
    record.encode(set)
  }
}

@Suite struct GeneratedObjectsTests {
  @Test func `references to the own model have a target, also that of the first object`() throws {
    let folder = try TemporaryFolder()
    let releases = SchemaFolder(folder.path("Migrations"))
    try releases.accept([Tree.self], version: 1)
    _ = try releases.release([Tree.self], version: 1)
    let tester = MigrationTester(models: [Tree.self], options: StoreOptions(schemaVersion: 1))
    try tester.checkResult(.generated(from: releases, release: 1, count: 50)) { store in
      let trees = try store.read { try $0.fetch(Tree.all) }
      #expect(trees.count == 50)
      let first = try #require(trees.first { $0.primaryKey == 0 })
      #expect(first.parent == Reference(0) && first.twin == nil)
      #expect(first.list.isEmpty && first.set.isEmpty)
    }
  }

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
