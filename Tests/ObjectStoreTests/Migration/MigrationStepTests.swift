import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// Migrations with steps, of whole stores.
@Suite(.timeLimit(.minutes(10))) struct MigrationStepTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  func options(
    _ version: UInt32,
    _ steps: [MigrationStep] = LibrarySteps.all,
    batch: Int = 100
  ) -> StoreOptions {
    var options = StoreOptions(schemaVersion: version)
    options.migration = Migration(steps: steps)
    options.migration?.batchCount = batch
    return options
  }

  func makeStore(count: Int64 = 1_000) throws { try insert(1...count) }

  func insert(_ ids: ClosedRange<Int64>) throws {
    let store = try Store(at: folder.path, models: [Author.self])
    try store.write { tx in
      for id in ids { try tx.insert(Author(id)) }
    }
  }

  func expectPersons(count: Int64 = 1_000, at path: String? = nil) throws {
    let store = try Store(at: path ?? folder.path, models: [Person.self], options: options(2))
    let expected = (1...count).map { Author($0) }.filter { !$0.isDeleted }.map { Person($0) }
    #expect(try store.read { try $0.fetch(Person.all) } == expected)
    let found = try store.read { try $0.fetch(Person.where { $0.year == 1_917 }).map(\.id) }
    #expect(found == expected.filter { $0.year == 1_917 }.map(\.id))
    #expect(found.isEmpty == (count < 17))
    #expect(try store.storedModels().map(\.name) == ["Person"])
    #expect(try store.indexBuilds() == [])
    #expect(try store.verify().problems == [])
  }

  func bytes() throws -> Data {
    try Data(contentsOf: URL(filePath: folder.path("data.mdb")))
  }

  /// The names of the data files and of their folders.
  func names() throws -> Set<String> {
    let all = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return Set(all.filter { $0.hasPrefix("data.mdb") })
  }

  // MARK: Steps

  @Test func `a step renames, splits, retypes and deletes`() throws {
    try makeStore()
    try expectPersons()
  }

  @Test func `steps of several versions are applied to the same effect at once and one by one`()
    throws
  {
    try makeStore()
    let direct = folder.path("direct")
    try Store(at: folder.path, models: []).backup(to: direct)
    for version in [2, 3] as [UInt32] {
      let models: [any Model.Type] = version == 2 ? [Person.self] : [Member.self]
      _ = try Store(at: folder.path, models: models, options: options(version))
    }
    let expected = Set(
      (1...1_000).map { Author($0) }.filter { !$0.isDeleted }.map { Member(Person($0)) }
    )
    for path in [folder.path, direct] {
      let store = try Store(at: path, models: [Member.self], options: options(3))
      #expect(Set(try store.read { try $0.fetch(Member.all) }) == expected)
      #expect(try store.storedModels().map(\.name) == ["Member"])
      #expect(try store.verify().problems == [])
      #expect(try store.read { try $0.count(Member.where { $0.year == 1_950 }) } == 10)
    }
  }

  @Test func `a store of the current version is not migrated`() throws {
    _ = try Store(at: folder.path, models: [Person.self], options: options(2))
    #expect(try !names().contains { $0.contains("before") })
    #expect(try Store.migrationStatus(at: folder.path).previousVersion == nil)
  }

  @Test(arguments: [MigrationStep.Mode.atOpen, .whenRead])
  func `a program that only reads does not take old values for new ones of the same type`(
    mode: MigrationStep.Mode
  ) throws {
    try makeStore(count: 10)
    let step = MigrationStep(
      "write names in capitals",
      to: 2,
      mode: mode,
      [
        .change("Author", fields: ["name"]) { old, new in
          new.set("name", to: try old.value("name", as: String.self).uppercased())
        }
      ]
    )
    var options = options(2, [step])
    options.access = .readOnly
    let error = #expect(throws: StoreError.self) {
      try Store(at: folder.path, models: [Author.self], options: options)
    }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.hasSuffix("open the store for writing, which migrates it") == true)
    _ = try Store(at: folder.path, models: [Author.self], options: self.options(2, [step]))
    let reader = try Store(at: folder.path, models: [Author.self], options: options)
    let names = try reader.read { try $0.fetch(Author.all).map(\.name) }
    #expect(names == (1...10).map { Author($0).name.uppercased() })
  }

  @Test func `a step adds objects, which later steps see`() throws {
    try makeStore(count: 10)
    let adding = MigrationStep(
      "add a card for each author",
      to: 2,
      [
        .change("Author") { old, new in
          var card = MigratedObject(model: "Card")
          card.set("id", to: try old.value("id", as: Int64.self) + 100)
          card.set("who", to: try old.value("id", as: Int64.self))
          new.add(card)
        }
      ]
    )
    let renaming = MigrationStep(
      "name owners",
      to: 3,
      [.renameField("who", of: "Card", to: "owner")]
    )
    let store = try Store(
      at: folder.path,
      models: [Author.self, Card<Author>.self],
      options: options(3, [adding, renaming])
    )
    let cards = try store.read { try $0.fetch(Card<Author>.all) }
    #expect(cards.map(\.id) == Array(101...110))
    #expect(cards.map(\.owner.key) == Array(1...10))
    #expect(try store.read { try $0.fetch(Author.all) } == (1...10).map { Author($0) })
  }

  @Test func `a step merges the objects of two models`() throws {
    do {
      let store = try Store(at: folder.path, models: [Author.self, Card<Author>.self])
      try store.write { tx in
        for id in 1...20 as ClosedRange<Int64> {
          try tx.insert(Author(id))
          try tx.insert(Card<Author>(id + 1_000, owner: id))
        }
      }
    }
    // The first step renames what the second one looks up.
    let renaming = MigrationStep(
      "call authors writers",
      to: 2,
      [
        .renameModel("Author", to: "Writer"), .renameField("name", of: "Writer", to: "fullName"),
      ]
    )
    let merging = MigrationStep(
      "write names on cards",
      to: 3,
      [
        .change("Card") { old, new, others in
          let owner = try old.value("owner", as: Int64.self)
          guard let writer = try others.find("Writer", key: owner) else { return }
          new.set("name", to: try writer.value("fullName", as: String.self))
          new.set("isMissing", to: try others.find("Writer", key: owner + 500) == nil)
          new.removeField("owner")
        },
        .removeModel("Writer"),
      ]
    )
    let store = try Store(at: folder.path, models: [], options: options(3, [renaming, merging]))
    #expect(try store.storedModels().map(\.name) == ["Card"])
    var names: [String] = []
    try store.forEachStoredObject(of: "Card") { object in
      names.append("\(object["name"]?.description ?? "none") \(object["isMissing"] == .bool(true))")
      return true
    }
    #expect(try store.storedModels().map(\.objectCount) == [20])
    #expect(names == (1...20 as ClosedRange<Int64>).map { "\(Author($0).name) true" })
  }

  @Test func `a lookup with the wrong model or type of key is an error`() throws {
    try makeStore(count: 5)
    let lookups: [@Sendable (MigrationLookup) throws -> Void] = [
      { _ = try $0.find("Nobody", key: 1 as Int64) },
      { _ = try $0.find("Author", key: "1") },
    ]
    for find in lookups {
      let step = MigrationStep(
        "look up",
        to: 2,
        [.change("Author") { _, _, others in try find(others) }]
      )
      let error = #expect(throws: StoreError.self) {
        try Store(at: folder.path, models: [], options: options(2, [step]))
      }
      #expect(error?.code == .migrationFailed)
    }
  }

  @Test func `what no step mentions is kept`() throws {
    do {
      let store = try Store(at: folder.path, models: [Author.self, Card<Author>.self])
      try store.write { tx in
        for id in 1...200 as ClosedRange<Int64> {
          try tx.insert(Author(id))
          if !Author(id).isDeleted { try tx.insert(Card<Author>(id + 1_000, owner: id)) }
        }
        _ = try tx.nextKey(for: Author.self)
      }
    }
    // The program does not declare cards.
    _ = try Store(at: folder.path, models: [Person.self], options: options(2))
    let store = try Store(
      at: folder.path,
      models: [Person.self, Card<Person>.self],
      options: options(2)
    )
    #expect(try store.read { try $0.count(Card<Person>.all) } == 180)
    #expect(try store.verify().problems == [])
    #expect(throws: StoreError.self) { try store.write { try $0.delete(Person.self, key: 1) } }
    let key = try store.write { tx in try tx.nextKey(for: Person.self) }
    #expect(key == 202)
  }

  @Test func `a field that the model does not declare keeps its values`() throws {
    try makeStore(count: 20)
    let step = MigrationStep("rename only", to: 2, [.renameModel("Author", to: "Writer")])
    let store = try Store(at: folder.path, models: [], options: options(2, [step]))
    var names: [String] = []
    try store.forEachStoredObject(of: "Writer") { object in
      names.append(object["name"]?.description ?? "")
      return true
    }
    #expect(names == (1...20).map { Author($0).name })
    #expect(try store.storedModels()[0].indexes.count == 1)
  }

  @Test func `nil in a field that has become required reads as its default value`() throws {
    try makeStore(count: 20)
    let step = MigrationStep("keep all", to: 2, [])
    let store = try Store(at: folder.path, models: [MailedAuthor.self], options: options(2, [step]))
    let mails = try store.read { try $0.fetch(MailedAuthor.all).map(\.mail) }
    #expect(mails == (1...20).map { Author($0).mail ?? "none" })
    #expect(try store.verify().problems == [])
  }
}
