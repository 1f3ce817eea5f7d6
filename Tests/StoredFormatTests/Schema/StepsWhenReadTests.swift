import MigrationTesting
import ObjectStore
import TestSupport
import Testing

/// The first version of a book.
private struct FirstBook: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Book",
    fields: [
      FieldSchema("code", String.self, isPrimaryKey: true),
      FieldSchema("title", String.self, isIndexed: true),
      FieldSchema("pages", String.self, isIndexed: true),
      FieldSchema("readers", Int64.self, isHot: true),
    ]
  )
  var primaryKey: String

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {}
}

/// The second version, in which pages are a number, with a rating that has a default value.
private struct Book: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Book",
    fields: [
      FieldSchema("code", String.self, isPrimaryKey: true),
      FieldSchema("title", String.self, isIndexed: true),
      FieldSchema("pages", Int64.self, isIndexed: true),
      FieldSchema("readers", Int64.self, isHot: true),
      FieldSchema("rating", Int64.self, default: 3),
    ]
  )

  var code: String
  var title: String
  var pages: Int64
  var readers: Int64
  var rating: Int64
  var primaryKey: String { code }

  init(from record: borrowing RecordView) throws(RecordError) {
    code = try record.value(at: 0)
    title = try record.value(at: 1)
    pages = try record.value(at: 2)
    readers = try record.value(at: 3)
    rating = try record.value(at: 4)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(code)
    record.encode(title)
    record.encode(pages)
    record.encode(readers)
    record.encode(rating)
  }

  static func step(_ body: @escaping @Sendable (String) throws -> Int64) -> MigrationStep {
    MigrationStep(
      "count pages",
      to: 2,
      mode: .whenRead,
      [
        .change("Book", fields: ["pages"]) { old, new in
          new.set("pages", to: try body(try old.value("pages")))
        }
      ]
    )
  }
}

/// Checks of steps that are applied when objects are read, and of programs side by side.
@Suite(.timeLimit(.minutes(10))) struct StepsWhenReadTests {
  private let releases: SchemaFolder
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    releases = SchemaFolder(folder.path("Migrations"))
    _ = try releases.accept([FirstBook.self], version: 1)
    _ = try releases.release([FirstBook.self], version: 1)
    _ = try releases.accept([Book.self], version: 2)
    _ = try releases.release([Book.self], version: 2)
  }

  private func tester(
    _ body: @escaping @Sendable (String) throws -> Int64 = { Int64($0.utf8.count) }
  ) -> MigrationTester {
    MigrationTester(
      models: [Book.self],
      options: StoreOptions(schemaVersion: 2, migration: Migration(steps: [Book.step(body)]))
    )
  }

  private func expectFailure(_ reason: String, _ body: () throws -> Void) {
    let error = #expect(throws: (any Error).self) { try body() }
    #expect(error.map { "\($0)".contains(reason) } == true, "\(error.map { "\($0)" } ?? "")")
  }

  @Test(arguments: [0, 1, 500]) func `a correct step passes every check`(count: Int) throws {
    let fixture = MigrationFixture.generated(from: releases, release: 1, count: count)
    try tester().check(fixture)
    try tester().checkPaths(fixture, releases: releases)
  }

  @Test func `a step that fails for an object is found`() throws {
    struct NoText: Error {}
    let tester = tester { text in
      if text.isEmpty { throw NoText() }
      return 1
    }
    let fixture = MigrationFixture.generated(from: releases, release: 1, count: 500)
    expectFailure("NoText") { try tester.checkResult(fixture) }
    expectFailure("NoText") { try tester.checkRehearsal(fixture) }
  }

  @Test func `a step whose result differs each time is found`() throws {
    let tester = tester { _ in .random(in: .min ... .max) }
    let fixture = MigrationFixture.generated(from: releases, release: 1, count: 50)
    expectFailure("the rehearsal has another result") { try tester.checkRehearsal(fixture) }
    expectFailure("after a kill has another result") { try tester.checkKills(fixture) }
  }

  @Test func `programs of an earlier release are checked beside this one`() throws {
    // A release that only adds a field.
    let same = SchemaFolder(folder.path("Same"))
    _ = try same.accept([FirstBook.self], version: 1)
    _ = try same.release([FirstBook.self], version: 1)
    let fixture = MigrationFixture.generated(from: same, release: 1, count: 50)
    try MigrationTester(models: [FirstBook.self], options: StoreOptions(schemaVersion: 1))
      .checkOlderProgram(fixture, from: same, release: 1)
    // Programs of a lower version find the store read-only.
    try tester().checkOlderProgram(fixture, from: same, release: 1)
  }

  @Test func `objects that programs of an earlier release cannot read are found`() throws {
    let same = SchemaFolder(folder.path("Same"))
    _ = try same.accept([Book.self], version: 2)
    _ = try same.release([Book.self], version: 2)
    let fixture = MigrationFixture.generated(from: same, release: 1, count: 5)
    // The next release has dropped a field that this one requires.
    let smaller = MigrationTester(
      models: [SmallBook.self],
      options: StoreOptions(schemaVersion: 2)
    )
    try smaller.checkOlderProgram(fixture, from: same, release: 1)
    let own = SchemaFolder(folder.path("Own"))
    _ = try own.accept([SmallBook.self], version: 2)
    _ = try own.release([SmallBook.self], version: 2)
    expectFailure("Book.title: it has no value") {
      try smaller.checkOlderProgram(
        .generated(from: own, release: 1, count: 500),
        from: same,
        release: 1,
        count: 5
      )
    }
  }
}

/// A book without a title.
private struct SmallBook: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Book",
    fields: [FieldSchema("code", String.self, isPrimaryKey: true)]
  )
  var primaryKey: String

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) { record.encode(primaryKey) }
}
