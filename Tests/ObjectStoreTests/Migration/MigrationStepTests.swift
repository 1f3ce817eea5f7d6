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

  private func options(
    _ version: UInt32,
    _ steps: [MigrationStep] = LibrarySteps.all,
    batch: Int = 100
  ) -> StoreOptions {
    var options = StoreOptions(schemaVersion: version)
    options.migration = Migration(steps: steps)
    options.migration?.batchCount = batch
    return options
  }

  private func makeStore(count: Int64 = 1_000) throws { try insert(1...count) }

  private func insert(_ ids: ClosedRange<Int64>) throws {
    let store = try Store(at: folder.path, models: [Author.self])
    try store.write { tx in
      for id in ids { try tx.insert(Author(id)) }
    }
  }

  private func expectPersons(count: Int64 = 1_000, at path: String? = nil) throws {
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

  private func bytes() throws -> Data {
    try Data(contentsOf: URL(filePath: folder.path("data.mdb")))
  }

  /// The names of the data files and of their folders.
  private func names() throws -> Set<String> {
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

  // MARK: Failures

  /// Expects that a migration fails, and leaves the store as it was.
  private func expectFailure(
    _ steps: [MigrationStep],
    version: UInt32 = 2,
    models: [any Model.Type] = [Person.self],
    _ reason: String,
    _ id: UInt64? = nil
  ) throws {
    let before = try bytes()
    let error = try #require(throws: StoreError.self) {
      _ = try Store(at: folder.path, models: models, options: options(version, steps))
    }
    #expect(error.code == .migrationFailed)
    #expect(error.message.contains(reason), "\(error.message)")
    #expect(error.message.contains("unchanged"))
    if let id { #expect((error.cause as? MigrationFailure)?.objectID == id) }
    #expect(try bytes() == before)
    #expect(try names() == ["data.mdb"])
    #expect(try Store(at: folder.path, models: [Author.self]).verify().problems == [])
  }

  @Test func `an error of a step names the object, and the store is unchanged`() throws {
    try makeStore()
    let step = MigrationStep(
      "reject one",
      to: 2,
      [
        .change("Author") { old, _ in
          if try old.value("id", as: Int64.self) == 777 {
            throw StoreError(.invalidInput, "no such luck")
          }
        }
      ]
    )
    try expectFailure([step], models: [Author.self], "reject one: no such luck", 777)
  }

  @Test func `a value of another type than the model declares is an error`() throws {
    try makeStore()
    let step = MigrationStep("rename only", to: 2, [.renameModel("Author", to: "Person")])
    try expectFailure([step], "Person.year is of type string, but the model declares int64", 1)
  }

  @Test func `a missing value without a default is an error`() throws {
    try makeStore()
    let step = MigrationStep(
      "forget the names",
      to: 2,
      [
        .renameModel("Author", to: "Person"),
        .change("Person") { old, new in new.set("year", to: 1 as Int64) },
      ]
    )
    try expectFailure([step], "Person.givenName has no value, and the model has no default", 1)
  }

  @Test func `a field that the model does not have is an error`() throws {
    try makeStore()
    let step = MigrationStep(
      "set too much",
      to: 2,
      [.change("Author") { _, new in new.set("nickname", to: "x") }]
    )
    try expectFailure([step], models: [Author.self], "a step sets Author.nickname", 1)
  }

  @Test func `reading a field by a name that it gets in the same step is an error`() throws {
    try makeStore()
    let step = MigrationStep(
      "read the new name",
      to: 2,
      [
        .renameField("name", of: "Author", to: "fullName"),
        .change("Author") { old, _ in _ = try old.value("fullName", as: String.self) },
      ]
    )
    let reason = "Author has no field fullName here, only id,"
    try expectFailure([step], models: [Author.self], reason, 1)
    let error = #expect(throws: StoreError.self) {
      _ = try Store(at: folder.path, models: [Author.self], options: options(2, [step]))
    }
    let reasons = "\(try #require(error))".ranges(of: "no field fullName")
    #expect(reasons.count == 1, "the description repeats the cause")
  }

  @Test func `nil in a required field is an error`() throws {
    try makeStore()
    let step = MigrationStep(
      "clear names",
      to: 2,
      [.change("Author") { _, new in new.set("name", to: nil as String?) }]
    )
    try expectFailure([step], models: [Author.self], "Author.name is nil", 1)
  }

  @Test func `an unknown model is an error`() throws {
    try makeStore()
    let step = MigrationStep("move", to: 2, [.change("Author") { _, new in new.model = "Ghost" }])
    try expectFailure([step], "has a model Ghost", 1)
  }

  @Test func `two objects with the same key or unique value are an error`() throws {
    try makeStore()
    let sameKey = MigrationStep(
      "collide",
      to: 2,
      [.change("Author") { old, new in new.set("id", to: try old.value("id", as: Int64.self) / 2) }]
    )
    try expectFailure([sameKey], models: [Author.self], "has the same primary key", 3)
    let sameMail = MigrationStep(
      "share a mailbox",
      to: 2,
      LibrarySteps.toPerson.operations
        + [.change("Person") { _, new in new.set("email", to: "all@example.com") }]
    )
    try expectFailure([sameMail], "has the same email", 2)
  }

  @Test func `a reference to an object that a step removes is an error`() throws {
    do {
      let store = try Store(at: folder.path, models: [Author.self, Card<Author>.self])
      try store.write { tx in
        for id in 1...20 as ClosedRange<Int64> { try tx.insert(Author(id)) }
        try tx.insert(Card<Author>(1, owner: 9))
      }
    }
    try expectFailure(
      LibrarySteps.all,
      models: [Person.self, Card<Person>.self],
      "owner refers to an object of Person that is missing",
      1
    )
  }

  @Test func `a store that is open elsewhere is not migrated`() throws {
    try makeStore(count: 10)
    let other = try Store(at: folder.path, models: [Author.self])
    let error = #expect(throws: StoreError.self) {
      _ = try Store(at: folder.path, models: [Person.self], options: options(2))
    }
    #expect(error?.code == .busy)
    #expect(error?.message.contains("end that program first") == true)
    try other.write { try $0.insert(Author(11)) }
  }

  #if os(Linux)
    @Test(.enabled(if: SmallDisk.isAvailable)) func `a full disk leaves the store usable`() throws {
      let disk = try #require(SmallDisk(kilobytes: 3_000))
      let path = disk.path + "/store"
      do {
        let store = try Store(at: path, models: [Author.self])
        try store.write { tx in
          for id in 1...8_000 as ClosedRange<Int64> { try tx.insert(Author(id)) }
        }
      }
      // Larger objects than before, so that the estimate is too low.
      let step = MigrationStep(
        "fatten",
        to: 2,
        [.change("Author") { _, new in new.set("name", to: String(repeating: "x", count: 500)) }]
      )
      let error = #expect(throws: StoreError.self) {
        _ = try Store(at: path, models: [Author.self], options: options(2, [step]))
      }
      #expect(error?.code == .diskFull)
      let store = try Store(at: path, models: [Author.self])
      try store.write { try $0.upsert(Author(1)) }
      #expect(try store.read { try $0.count(Author.all) } == 8_000)
      #expect(try store.verify().problems == [])
    }
  #endif

  // MARK: Kills

  /// Kills a process in the migration after a number of batches.
  private func kill(after batches: Int, batch: Int = 100) async throws {
    let path = folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, batches = batches as Int, batch = batch as Int] in
      let count = Mutex(0)
      var options = StoreOptions(schemaVersion: 2)
      options.migration = Migration(steps: LibrarySteps.all) { _ in
        let done = count.withLock { count in
          count += 1
          return count
        }
        if done == batches { Foundation.kill(getpid(), SIGKILL) }
      }
      options.migration?.batchCount = batch
      _ = try Store(at: path, models: [Person.self], options: options)
    }
  }

  @Test(arguments: [1, 5, 10]) func `a kill leaves the store as it was`(batches: Int) async throws {
    try makeStore()
    let before = try bytes()
    try await kill(after: batches)
    #expect(try bytes() == before)
    #expect(try Store.migrationStatus(at: folder.path).isInterrupted)
    try expectPersons()
    #expect(try names() == ["data.mdb", "data.mdb.before-1"])
  }

  @Test func `after a kill, the migration continues`() async throws {
    try makeStore()
    try await kill(after: 7)
    let first = Mutex<Int?>(nil)
    var options = options(2)
    options.migration?.progress = { progress in
      first.withLock { first in first = first ?? progress.objectCount }
    }
    _ = try Store(at: folder.path, models: [Person.self], options: options)
    #expect(first.withLock(\.self) == 800)
    try expectPersons()
  }

  @Test func `after a change of the store, the migration begins again`() async throws {
    try makeStore()
    try await kill(after: 7)
    try insert(1_001...1_100)
    try expectPersons(count: 1_100)
  }

  // MARK: Rehearsal

  @Test func `a rehearsal lists the objects that would fail, beside a program that writes`() throws
  {
    try makeStore()
    let store = try Store(at: folder.path, models: [Author.self])
    let writer = Mutex(Int64(1_000))
    let step = MigrationStep(
      "reject some",
      to: 2,
      [
        .change("Author") { old, new in
          let id = try old.value("id", as: Int64.self)
          if id % 100 == 50 { throw StoreError(.invalidInput, "odd") }
          if id % 100 == 60 { new.set("id", to: 1 as Int64) }
          if id % 100 == 0 {
            try writer.withLock { last in
              last += 1
              try store.write { [last] in try $0.insert(Author(last)) }
            }
          }
        }
      ]
    )
    let rehearsal = try Store.rehearseMigration(
      at: folder.path,
      models: [Author.self],
      options: options(2, [step]),
      failureLimit: 15
    )
    #expect(rehearsal.failureCount == 20)
    #expect(rehearsal.failures.count == 15)
    #expect(rehearsal.failures.prefix(2).map(\.objectID) == [50, 60])
    #expect(rehearsal.failures[0].reason == "odd")
    #expect(rehearsal.failures[0].step == "reject some")
    #expect(rehearsal.objectCount == 1_000)
    #expect(rehearsal.from == 1 && rehearsal.to == 2)
    #expect(rehearsal.fileSize > 10_000)
    #if os(Linux)
      #expect(rehearsal.peakMemory ?? 0 > 0)
    #endif
    #expect(try names() == ["data.mdb"])
    #expect(try store.read { try $0.count(Author.all) } == 1_010)
  }

  @Test func `a rehearsal of a store of the current version does nothing`() throws {
    _ = try Store(at: folder.path, models: [Person.self], options: options(2))
    let rehearsal = try Store.rehearseMigration(
      at: folder.path,
      models: [Person.self],
      options: options(2)
    )
    #expect(rehearsal.steps.isEmpty && rehearsal.from == 2 && rehearsal.to == 2)
  }

  // MARK: Rollback

  @Test func `a rollback restores the file, and reports what was written since`() throws {
    try makeStore()
    let before = try bytes()
    do {
      let store = try Store(at: folder.path, models: [Person.self], options: options(2))
      try store.write { tx in
        try tx.insert(Person(Author(2_000)))
        try tx.delete(Person.self, key: 1)
        _ = try tx.update(Person.self, key: 2) { $0.views += 1 }
        _ = try tx.update(Person.self, key: 3) { $0.views += 1 }
      }
    }
    let status = try Store.migrationStatus(at: folder.path)
    #expect(status.version == 2 && status.previousVersion == 1 && !status.isInterrupted)
    #expect(status.previousFile == folder.path("data.mdb.before-1"))
    #expect(status.previousFileSize == before.count)
    let report = try Store.rollBackMigration(at: folder.path)
    #expect(report.version == 1 && report.isComplete)
    #expect(
      report.lost == [
        "Person": RollbackReport.Changes(inserted: 1, updated: 2, deleted: 1)
      ]
    )
    // Only the number of the last commit is another one.
    let restored = try bytes()
    #expect(restored.count == before.count)
    #expect(zip(restored, before).count { $0 != $1 } <= 8)
    #expect(try names() == ["data.mdb", "data.mdb.rolled-back"])
    try expectPersons()
  }

  @Test func `a second rollback keeps the file of the first one`() throws {
    try makeStore(count: 10)
    var files: [String] = []
    for _ in 1...3 {
      _ = try Store(at: folder.path, models: [Person.self], options: options(2))
      files.append(try Store.rollBackMigration(at: folder.path).migratedFile)
    }
    let names = ["data.mdb.rolled-back", "data.mdb.rolled-back-2", "data.mdb.rolled-back-3"]
    #expect(files == names.map { folder.path($0) })
    #expect(try self.names() == Set(["data.mdb"] + names))
  }

  @Test func `without a previous file there is nothing to roll back`() throws {
    try makeStore(count: 10)
    var options = options(2)
    options.migration?.keepsPrevious = false
    _ = try Store(at: folder.path, models: [Person.self], options: options)
    #expect(try names() == ["data.mdb"])
    let error = #expect(throws: StoreError.self) { try Store.rollBackMigration(at: folder.path) }
    #expect(error?.code == .notFound)
    try expectPersons(count: 10)
  }

  @Test func `a store that is open is not rolled back`() throws {
    try makeStore(count: 10)
    let store = try Store(at: folder.path, models: [Person.self], options: options(2))
    let error = #expect(throws: StoreError.self) { try Store.rollBackMigration(at: folder.path) }
    #expect(error?.code == .busy)
    #expect(try store.read { try $0.count(Person.all) } == 9)
  }
}
