import Foundation
import MigrationTesting
import ObjectStore
import TestSupport
import Testing

/// A note in its first version.
struct FirstNote: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Note",
    fields: [
      FieldSchema("id", Int64.self, isPrimaryKey: true),
      FieldSchema("stars", String.self, isOptional: true),
      FieldSchema("mood", String.self),
      FieldSchema("tags", Set<String>.self, isIndexed: true),
      FieldSchema("shelf", Reference<FirstShelf>.self),
    ]
  )
  var primaryKey: Int64

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {}
}

struct FirstShelf: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Shelf",
    fields: [
      FieldSchema("name", String.self, isPrimaryKey: true), FieldSchema("size", Int32.self),
    ]
  )
  var primaryKey: String

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {}
}

/// The version between, in which stars are a number.
struct SecondNote: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Note",
    fields: [
      FieldSchema("id", Int64.self, isPrimaryKey: true),
      FieldSchema("stars", Int64.self),
      FieldSchema("mood", String.self),
      FieldSchema("tags", Set<String>.self, isIndexed: true),
      FieldSchema("shelf", Reference<FirstShelf>.self),
    ]
  )
  var primaryKey: Int64

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {}
}

enum Mood: String, FieldValue {
  case good, bad
}

/// The present version, with another primary key.
struct ThirdNote: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Note",
    fields: [
      FieldSchema("code", String.self, isPrimaryKey: true),
      FieldSchema("stars", Int64.self, isIndexed: true),
      FieldSchema("mood", Mood.self),
      FieldSchema("tags", Set<String>.self, isIndexed: true),
      FieldSchema("shelf", Reference<FirstShelf>.self),
    ]
  )
  var primaryKey: String
  var stars: Int64
  var mood: Mood

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
    stars = try record.value(at: 1)
    mood = try record.value(at: 2)
  }

  func encode(to record: inout RecordEncoder) {}
}

@Suite(.timeLimit(.minutes(10))) struct MigrationTesterTests {
  private let folder: TemporaryFolder
  private let releases: SchemaFolder

  init() throws {
    folder = try TemporaryFolder()
    releases = SchemaFolder(folder.path("Migrations"))
    for (note, version) in [(FirstNote.self, 1), (SecondNote.self, 2), (ThirdNote.self, 3)]
      as [(any Model.Type, UInt32)]
    {
      _ = try releases.accept([note, FirstShelf.self], version: version)
      _ = try releases.release([note, FirstShelf.self], version: version)
    }
  }

  private static let toNumbers = MigrationStep(
    "write stars as numbers",
    to: 2,
    [
      .change("Note") { old, new in
        new.set("stars", to: Int64(try old.optional("stars", as: String.self)?.utf8.count ?? 0))
      }
    ]
  )
  private static let toCodes = MigrationStep(
    "call notes by codes",
    to: 3,
    [
      .change("Note") { old, new in
        new.set("code", to: "N\(try old.value("id", as: Int64.self))")
        new.removeField("id")
      }
    ]
  )

  private func tester(_ steps: [MigrationStep] = [toNumbers, toCodes]) -> MigrationTester {
    MigrationTester(
      models: [ThirdNote.self, FirstShelf.self],
      options: StoreOptions(schemaVersion: 3, migration: Migration(steps: steps))
    )
  }

  private func fixture(
    _ count: Int,
    release: Int = 1,
    moods: [StoredValue] = [.string("good"), .string("bad")]
  ) -> MigrationFixture {
    .generated(from: releases, release: release, count: count, values: ["Note.mood": moods])
  }

  private func expectFailure(_ reason: String, _ body: () throws -> Void) {
    let error = #expect(throws: (any Error).self) { try body() }
    #expect(error.map { "\($0)".contains(reason) } == true, "\(error.map { "\($0)" } ?? "")")
  }

  @Test(arguments: [0, 1, 500], [1, 2, 3])
  func `a correct migration passes every check`(count: Int, release: Int) throws {
    try tester().check(fixture(count, release: release))
    try tester().checkPaths(fixture(count, release: release), releases: releases)
  }

  @Test func `the migrated store can be examined`() throws {
    try tester().checkResult(fixture(100)) { store in
      let notes = try store.read { try $0.fetch(ThirdNote.all) }
      #expect(notes.count == 100)
      #expect(Set(notes.map(\.primaryKey)) == Set((0..<100).map { "N\($0)" }))
    }
  }

  @Test func `exports and stores are fixtures too`() throws {
    let file = folder.path("notes.jsonl")
    let copy = folder.path("copy")
    var models: [StoredModel] = []
    try MigrationTester(models: [FirstNote.self], options: StoreOptions())
      .checkResult(fixture(50)) { store in
        #expect(try store.exportJSONLines(to: file) == 100)
        try store.backup(to: copy)
        models = try store.storedModels()
      }
    #expect(models.map(\.objectCount) == [50, 50])
    try tester().check(.jsonLines(at: file))
    try tester().check(.store(at: copy))
    expectFailure("cannot be read") { try tester().check(.jsonLines(at: folder.path("none"))) }
  }

  @Test func `a million objects may be limited in memory`() throws {
    try tester().checkRehearsal(fixture(20_000), memoryLimit: 400 << 20)
    #if os(Linux)
      expectFailure("MiB of memory") {
        try tester().checkRehearsal(fixture(100), memoryLimit: 1_000)
      }
    #endif
  }

  // MARK: Faults

  @Test func `values that the models cannot read are found`() throws {
    expectFailure("an object of Note cannot be read") {
      try tester().check(fixture(100, moods: [.string("good"), .string("strange")]))
    }
  }

  @Test func `a step that fails is found, with the object`() throws {
    let step = MigrationStep(
      "fail",
      to: 3,
      [.change("Note") { old, _ in _ = try old.value("stars", as: String.self) }]
    )
    expectFailure("stars") { try tester([Self.toNumbers, step]).check(fixture(10)) }
    expectFailure("Note.stars") { try tester([Self.toNumbers, step]).checkRehearsal(fixture(10)) }
  }

  @Test func `a step whose result differs each time is found`() throws {
    let random = MigrationStep(
      "roll dice",
      to: 3,
      Self.toCodes.operations
        + [.change("Note") { _, new in new.set("stars", to: Int64.random(in: .min ... .max)) }]
    )
    let tester = tester([Self.toNumbers, random])
    expectFailure("the rehearsal has another result") { try tester.checkRehearsal(fixture(10)) }
    expectFailure("after a rollback has another result") { try tester.checkRollback(fixture(10)) }
    expectFailure("after a kill has another result") { try tester.checkKills(fixture(40)) }
    expectFailure("by releases has another result") {
      try tester.checkPaths(fixture(10), releases: releases)
    }
  }

  @Test func `a step that writes equal texts with other scalars each time is found`() throws {
    let random = MigrationStep(
      "spell",
      to: 3,
      Self.toCodes.operations
        + [
          .change("Note") { _, new in
            new.set("tags", to: Set([Bool.random() ? "\u{E9}" : "e\u{301}"]))
          }
        ]
    )
    expectFailure("with other Unicode scalars") {
      try tester([Self.toNumbers, random]).checkRehearsal(fixture(100))
    }
  }

  @Test func `a missing release is found`() throws {
    let other = SchemaFolder(folder.path("Other"))
    _ = try other.accept([FirstNote.self], version: 1)
    _ = try other.release([FirstNote.self], version: 1)
    expectFailure("has no release 2") {
      try tester().check(.generated(from: other, release: 2, count: 1))
    }
    expectFailure("has no release of version 2") {
      try tester().checkPaths(fixture(1), releases: other)
    }
  }

  @Test func `a store of a later version is found`() throws {
    let older = MigrationTester(
      models: [ThirdNote.self],
      options: StoreOptions(schemaVersion: 2)
    )
    expectFailure("later schema version") { try older.checkResult(fixture(1, release: 3)) }
  }
}
