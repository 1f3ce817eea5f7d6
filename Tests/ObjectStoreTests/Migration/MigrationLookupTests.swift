import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMigration

/// Lookups of other objects in the steps of a migration.
@Suite struct MigrationLookupTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A step that copies the name and the nickname of the owner to each card.
  private static func copyNames(to version: UInt32, of model: String) -> MigrationStep {
    MigrationStep(
      "copy names of version \(version)",
      to: version,
      [
        .change("Card") { old, new, others in
          let owner = try others.find(model, key: old.value("owner", as: Int64.self))
          let name = try owner?.value("name", as: String.self) ?? "none"
          let nick = try owner?.optional("nick", as: String.self) ?? "none"
          new.set("names\(version)", to: "\(name), \(nick)")
        },
        .change(model) { old, new in
          new.set("name", to: "\(try old.value("name", as: String.self))'")
        },
      ]
    )
  }

  @Test func `a lookup finds objects of each layout, as they are before the step`() throws {
    do {
      let store = try Store(at: folder.path, models: [Writer.self, Card<Writer>.self])
      try store.write { tx in
        for id in 1...4 as ClosedRange<Int64> { try tx.insert(Writer(id: id)) }
        for id in 1...6 as ClosedRange<Int64> {
          try tx.insert(Card<Writer>(id, owner: min(id, 4)))
        }
      }
    }
    do {
      // Another version of the program, which stores nicknames.
      let store = try Store(at: folder.path, models: [NamedWriter.self])
      try store.write { tx in
        for id in 3...4 as ClosedRange<Int64> {
          _ = try tx.upsert(NamedWriter(writer: Writer(id: id), nick: "n\(id)"))
        }
      }
    }
    let steps = [
      Self.copyNames(to: 2, of: "Writer"),
      MigrationStep("call writers poets", to: 3, [.renameModel("Writer", to: "Poet")]),
      Self.copyNames(to: 4, of: "Poet"),
    ]
    var options = StoreOptions(schemaVersion: 4)
    options.migration = Migration(steps: steps)
    // Several batches.
    options.migration?.batchCount = 2
    let store = try Store(at: folder.path, models: [], options: options)
    var names: [String] = []
    try store.forEachStoredObject(of: "Card") { card in
      names.append("\(card["names2"]?.description ?? "") \(card["names4"]?.description ?? "")")
      return true
    }
    let expected = [1, 2, 3, 4, 4, 4].map { id in
      let nick = id < 3 ? "none" : "n\(id)"
      return "writer \(id), \(nick) writer \(id)', \(nick)"
    }
    #expect(names == expected)
  }
}

private struct Writer: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Writer",
    fields: [FieldSchema("id", Int64.self, isPrimaryKey: true), FieldSchema("name", String.self)]
  )

  var id: Int64
  var primaryKey: Int64 { id }

  init(id: Int64) { self.id = id }

  init(from record: borrowing RecordView) throws(RecordError) { id = try record.value(at: 0) }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode("writer \(id)")
  }
}

/// A writer in another layout.
private struct NamedWriter: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Writer",
    fields: Writer.schema.fields + [FieldSchema("nick", String.self, isOptional: true)]
  )

  let writer: Writer
  let nick: String?
  var primaryKey: Int64 { writer.id }

  init(writer: Writer, nick: String) {
    self.writer = writer
    self.nick = nick
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    writer = try Writer(from: record)
    nick = try record.optional(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    writer.encode(to: &record)
    record.encode(nick)
  }
}
