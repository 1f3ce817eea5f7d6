import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// Migrations of models that have given the name of a field another id.
@Suite struct RenumberedFieldTests {
  private let folder: TemporaryFolder

  /// Creates a store with objects that have the previous field, the present one, and both.
  init() throws {
    folder = try TemporaryFolder()
    try folder.open(OldNote.self, version: 1).write { tx in
      try tx.insert(OldNote(id: 1, text: "one"))
      try tx.insert(OldNote(id: 2, text: "two"))
    }
    try folder.open(NumberedNote.self, version: 1).write { tx in
      try tx.update(NumberedNote.self, key: 1) { $0.text = 5 }
      try tx.insert(NumberedNote(id: 3, text: 6))
    }
    try folder.open(Author.self, version: 1).write { try $0.insert(Author(1)) }
  }

  private func options(_ operations: MigrationOperation...) -> StoreOptions {
    let step = MigrationStep("change something", to: 2, operations)
    return StoreOptions(schemaVersion: 2, migration: Migration(steps: [step]))
  }

  private func numbers(_ store: Store) throws -> [Int] {
    try store.read { try $0.fetch(NumberedNote.all) }.sorted { $0.id < $1.id }.map(\.text)
  }

  private func texts() throws -> [String] {
    let store = try folder.open(OldNote.self, version: 2)
    return try store.read { try $0.fetch(OldNote.all) }.sorted { $0.id < $1.id }.map(\.text)
  }

  @Test(arguments: [true, false])
  func `a step on another model leaves both fields as they are`(isDeclared: Bool) throws {
    let options = options(.removeField("mail", of: "Author"))
    do {
      let models: [any Model.Type] = isDeclared ? [NumberedNote.self] : []
      let store = try Store(at: folder.path, models: models, options: options)
      #expect(try store.verify().problems == [])
    }
    let store = try folder.open(NumberedNote.self, version: 2)
    #expect(try numbers(store) == [5, 0, 6])
    #expect(try texts() == ["one", "two", "none"])
  }

  @Test func `a step changes the present field of an object that has both`() throws {
    let change = MigrationOperation.change("Note") { old, new in
      guard case .signed(let number) = old["text"] else { return }
      new.set("text", to: Int(number) * 10)
    }
    do {
      let store = try Store(at: folder.path, models: [NumberedNote.self], options: options(change))
      #expect(try numbers(store) == [50, 0, 60])
    }
    #expect(try texts() == ["one", "two", "none"])
  }
}
