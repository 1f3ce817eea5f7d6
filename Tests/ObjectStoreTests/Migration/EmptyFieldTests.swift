import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// An offer whose optional price has another type in each version.
private struct Offer<Price: FieldValue & Hashable & Sendable>: Model, Hashable {
  struct Columns: Sendable {}

  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Offer",
      fields: [
        FieldSchema("id", Int64.self, isPrimaryKey: true),
        FieldSchema("price", Price.self, isOptional: true),
      ]
    )
  }

  var id: Int64
  var price: Price?
  var primaryKey: Int64 { id }

  init(_ id: Int64, _ price: Price?) {
    self.id = id
    self.price = price
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    price = try record.optional(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(price)
  }
}

/// Steps that change the type of an optional field, in objects without a value.
@Suite struct EmptyFieldTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func makeStore() throws {
    let store = try Store(at: folder.path, models: [Offer<String>.self])
    try store.write { tx in
      for id in 1...6 as ClosedRange<Int64> {
        try tx.insert(Offer(id, id.isMultiple(of: 2) ? nil : "\(id) cents"))
      }
    }
  }

  private func options(
    _ mode: MigrationStep.Mode,
    _ body: @escaping @Sendable (MigratedObject, inout MigratedObject) throws -> Void
  ) -> StoreOptions {
    let step = MigrationStep(
      "write prices as numbers",
      to: 2,
      mode: mode,
      [.change("Offer", fields: ["price"], body)]
    )
    return StoreOptions(schemaVersion: 2, migration: Migration(steps: [step]))
  }

  @Test(arguments: [MigrationStep.Mode.atOpen, .whenRead])
  func `a step need not set a field of another type that has no value`(
    mode: MigrationStep.Mode
  ) throws {
    try makeStore()
    let options = options(mode) { old, new in
      guard let text = try old.optional("price", as: String.self) else { return }
      new.set("price", to: Int64(text.prefix { $0.isNumber }))
    }
    let store = try Store(at: folder.path, models: [Offer<Int64>.self], options: options)
    let offers = try store.read { try $0.fetch(Offer<Int64>.all) }
    #expect(offers == (1...6).map { Offer($0, $0.isMultiple(of: 2) ? nil : $0) })
    try store.finishConversions()
    #expect(try store.read { try $0.fetch(Offer<Int64>.all) } == offers)
    #expect(try store.verify().problems == [])
  }

  @Test(arguments: [MigrationStep.Mode.atOpen, .whenRead])
  func `a step must set a field of another type that has a value`(
    mode: MigrationStep.Mode
  ) throws {
    try makeStore()
    let rehearsal = try Store.rehearseMigration(
      at: folder.path,
      models: [Offer<Int64>.self],
      options: options(mode) { _, _ in }
    )
    #expect(rehearsal.failures.map(\.primaryKey) == [.signed(1), .signed(3), .signed(5)])
    #expect(
      rehearsal.failures.first?.description == """
        object 1 of Offer (primary key 1): Offer.price is of type string, but the model declares int64: \
        set it in a step by this name, or rename it there
        """
    )
  }
}
