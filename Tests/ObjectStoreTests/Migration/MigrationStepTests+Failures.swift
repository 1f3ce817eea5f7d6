import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

// Migrations that fail, and leave the store as it was.

extension MigrationStepTests {
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
}
