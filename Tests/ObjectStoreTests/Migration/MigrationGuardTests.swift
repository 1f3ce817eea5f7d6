import Foundation
import LMDB
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// Conditions under which a migration continues, begins again or stops, and the order of its steps.
@Suite(.timeLimit(.minutes(10))) struct MigrationGuardTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func options(_ steps: [MigrationStep] = LibrarySteps.all) -> StoreOptions {
    var options = StoreOptions(schemaVersion: 2)
    options.migration = Migration(steps: steps)
    options.migration?.batchCount = 100
    return options
  }

  private func makeAuthors() throws {
    try folder.open(Author.self).write { tx in
      for id in 1...1_000 as ClosedRange<Int64> { try tx.insert(Author(id)) }
    }
  }

  private func makeTracks(_ count: Int64) throws {
    try folder.open(OldTrack<InSequence>.self, version: 1).write { tx in
      try tx.insert(contentsOf: (1...count).map { OldTrack<InSequence>($0) })
    }
  }

  /// Kills a process in the migration when 700 objects are migrated.
  private func killMigration() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
      var options = MigrationGuardTests.options()
      options.migration?.progress = { progress in
        if progress.objectCount == 700 { Foundation.kill(getpid(), SIGKILL) }
      }
      _ = try Store(at: path, models: [Person.self], options: options)
    }
    #expect(try Store.migrationStatus(at: folder.path).isInterrupted)
  }

  private func persons(_ steps: [MigrationStep] = LibrarySteps.all) throws -> [Person] {
    let store = try Store(at: folder.path, models: [Person.self], options: Self.options(steps))
    #expect(try store.verify().problems == [])
    return try store.read { try $0.fetch(Person.all) }
  }

  // MARK: Folders and names that others have planted

  /// Creates another store, and returns its folder and its data file.
  private func makeOther(in parent: TemporaryFolder) throws -> (path: String, data: Data) {
    let path = parent.path("other")
    _ = try Store(at: path, models: [Author.self])
    return (path, try Data(contentsOf: URL(filePath: "\(path)/data.mdb")))
  }

  @Test func `a migration does not follow a link in the place of its folder`() throws {
    let parent = try TemporaryFolder()
    let other = try makeOther(in: parent)
    try makeAuthors()
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("data.mdb.migration"),
      withDestinationPath: other.path
    )
    let error = #expect(throws: StoreError.self) { try persons() }
    #expect(error?.code == .permissionDenied)
    #expect(try Data(contentsOf: URL(filePath: "\(other.path)/data.mdb")) == other.data)
  }

  @Test(arguments: [
    "../other/data.mdb", "data.mdb.before-1/../../other/data.mdb", "data.mdb",
    // These slashes are no Characters of their own.
    "data.mdb.before-1\u{600}/data.mdb", "data.mdb.before-1/\u{301}data.mdb",
  ])
  func `a rollback does not move a file whose name the store cannot have given`(
    name: String
  ) throws {
    let parent = try TemporaryFolder()
    let other = try makeOther(in: parent)
    let path = parent.path("store")
    _ = try Store(at: path, models: [Author.self])
    do {
      let environment = try Environment.open(path)
      var transaction = try environment.beginWrite()
      let metadata = Metadata(database: try transaction.createDatabase(TableName.store))
      let record = MigrationRecord(from: 0, to: 1, commit: 1, previousFile: name)
      try metadata.set(record.encoded, for: MigrationRecord.key, in: &transaction)
      try transaction.commit()
    }
    let error = #expect(throws: StoreError.self) { try Store.rollBackMigration(at: path) }
    #expect(error?.code == .damaged)
    #expect(try Data(contentsOf: URL(filePath: "\(other.path)/data.mdb")) == other.data)
  }

  // MARK: What a begun migration depends on

  @Test func `objects that were migrated before the older program changed them are migrated again`()
    async throws
  {
    try makeAuthors()
    try await killMigration()
    try await folder.open(Author.self).write { tx in
      try tx.update(Author.self, key: 5) { $0.name = "Changed Name" }
      try tx.delete(Author.self, key: 6)
    }
    let persons = try persons()
    #expect(persons.first { $0.id == 5 }?.familyName == "Name")
    #expect(!persons.contains { $0.id == 6 })
  }

  @Test(arguments: [true, false])
  func `a migration with other steps begins again`(hasOtherSummary: Bool) async throws {
    try makeAuthors()
    try await killMigration()
    let first = LibrarySteps.toPerson
    let renamed: MigrationOperation = .change("Person") { _, new in
      new.set("givenName", to: "Renamed")
    }
    let other =
      hasOtherSummary
      ? MigrationStep("another step", to: 2, first.operations + [renamed])
      : MigrationStep(first.summary, to: 2, first.operations + [renamed])
    #expect(try persons([other]).allSatisfy { $0.givenName == "Renamed" })
  }

  @Test func `a migration to other models begins again`() async throws {
    try makeAuthors()
    try await killMigration()
    let store = try Store(
      at: folder.path,
      models: [LongPerson.self],
      options: Self.options()
    )
    #expect(try store.verify().problems == [])
    let layouts = try Store.readStored(store.environment) { _, schema in
      schema.model("Person")?.layouts.map { $0.fields.map(\.name) }
    }
    #expect(layouts?.allSatisfy { !$0.contains("email") || $0.contains("isNew") } == true)
    let all = try await store.read { try $0.fetch(LongPerson.all) }
    #expect(all.count == 900 && all.allSatisfy(\.isNew))
  }

  // MARK: The new file

  @Test func `the folder is synced after each new name of a file`() throws {
    try makeAuthors()
    let calls = Mutex<[DurableFile.Call]>([])
    let record: @Sendable (DurableFile.Call) -> Int32 = { call in
      calls.withLock { $0.append(call) }
      return 0
    }
    func expectSynced(_ expectedNames: Int) {
      let all = calls.withLock { calls in
        defer { calls = [] }
        return calls
      }
      var names = 0
      for (number, call) in all.enumerated() {
        switch call {
        case .rename, .link:
          names += 1
          // Before any other name, and before the end.
          #expect(all[(number + 1)...].first == .sync(folder.path), "\(call)")
        case .sync: break
        }
      }
      #expect(names == expectedNames)
    }
    try DurableFile.$observer.withValue(record) { _ = try persons() }
    expectSynced(2)
    try DurableFile.$observer.withValue(record) {
      _ = try Store.rollBackMigration(at: folder.path)
    }
    expectSynced(2)
  }

  @Test func `the numbers of commits continue in a migrated file`() throws {
    try makeAuthors()
    var last: UInt64 = 0
    do {
      let store = try folder.open(Author.self)
      for _ in 0..<40 { try store.write { _ = try $0.upsert(Author(1)) } }
      for number in 0..<40 as Range<Int64> {
        try store.write { tx in try tx.update(Author.self, key: 2) { $0.views = number } }
      }
      last = try store.commitNumber()
    }
    do {
      let store = try Store(at: folder.path, models: [Person.self], options: Self.options())
      #expect(try store.commitNumber() > last)
      last = try store.write { tx in
        try tx.insert(Person(Author(5_000)))
        return tx.commitNumber
      }
      #expect(try store.commitNumber() == last)
    }
    #expect(try Store.rollBackMigration(at: folder.path).lost["Person"]?.inserted == 1)
  }

  @Test(arguments: 0..<4) func `the numbers of commits continue after a rollback`(
    count: Int
  ) throws {
    try makeAuthors()
    var last: UInt64 = 0
    do {
      let store = try Store(at: folder.path, models: [Person.self], options: Self.options())
      for number in 0..<count {
        try store.write { try $0.insert(Person(Author(5_000 + Int64(number)))) }
      }
      last = try store.commitNumber()
    }
    _ = try Store.rollBackMigration(at: folder.path)
    let store = try folder.open(Author.self)
    #expect(try store.commitNumber() > last)
    let next = try store.write { tx in
      try tx.insert(Author(9_000))
      return tx.commitNumber
    }
    #expect(try next > last && store.commitNumber() == next)
    #expect(try store.verify().isValid)
  }

  @Test(arguments: ["file", "link", "folder"])
  func `a file with the name of the previous one is kept`(kind: String) throws {
    try makeAuthors()
    let name = folder.path("data.mdb.before-0")
    switch kind {
    case "file": try folder.makeFile("data.mdb.before-0", "theirs")
    case "link": #expect(unsafe symlink("/nowhere", name) == 0)
    default: #expect(mkdir(name, 0o700) == 0)
    }
    var before = stat()
    #expect(lstat(name, &before) == 0)
    _ = try persons()
    let other = folder.path("data.mdb.before-0-2")
    #expect(try Store.migrationStatus(at: folder.path).previousFile == other)
    var after = stat()
    #expect(lstat(name, &after) == 0 && after.st_ino == before.st_ino)
    #expect(try Store.rollBackMigration(at: folder.path).version == 0)
    #expect(try folder.open(Author.self).read { try $0.count(Author.all) } > 0)
    #expect(lstat(name, &after) == 0 && after.st_ino == before.st_ino)
  }

  @Test func `the numbers of commits continue in a repaired file`() throws {
    var last: UInt64 = 0
    do {
      let store = try folder.open(Author.self)
      for id in 1...80 as ClosedRange<Int64> { try store.write { try $0.insert(Author(id)) } }
      last = try store.commitNumber()
    }
    _ = try Store.repair(at: folder.path, into: folder.path("repaired"))
    #expect(try Store(at: folder.path("repaired"), models: [Author.self]).commitNumber() > last)
    _ = try Store.repairInPlace(at: folder.path)
    let store = try folder.open(Author.self)
    #expect(try store.commitNumber() > last)
    #expect(try store.read { try $0.count(Author.all) } == 80)
    #expect(try store.verify().problems == [])
  }

  // MARK: Steps when read

  @Test func `a second step begins with the objects that the first one has converted`() throws {
    try makeTracks(300)
    var second = StepsWhenReadTests.options()
    second.migration?.batchCount = 50
    do {
      let store = try Store(at: folder.path, models: [Track<InSequence>.self], options: second)
      var worker = ConversionWorker(store.environment, [Track<InSequence>.self], second)
      _ = try worker.step()
      _ = try worker.step()
      #expect(try store.conversions().first?.objectCount == 100)
    }
    let third = StepsWhenReadTests.options(3, [TrackSteps.second(), TrackSteps.third()])
    let store = try Store(at: folder.path, models: [NewestTrack<InSequence>.self], options: third)
    #expect(try store.conversions().first?.objectCount == 0)
    try store.finishConversions()
    #expect(try store.conversions() == [])
    let expected = (1...300).map { NewestTrack(Track<InSequence>($0)) }
    #expect(try store.read { try $0.fetch(NewestTrack<InSequence>.all) } == expected)
    #expect(try store.verify().problems == [])
  }

  @Test func `a program that is converting stops when a later one begins another step`() throws {
    try makeTracks(300)
    var second = StepsWhenReadTests.options()
    second.migration?.batchCount = 50
    let models: [any Model.Type] = [Track<InSequence>.self]
    let older = try Store(at: folder.path, models: models, options: second)
    var worker = ConversionWorker(older.environment, models, second)
    _ = try worker.step()
    let third = StepsWhenReadTests.options(3, [TrackSteps.second(), TrackSteps.third()])
    let store = try Store(at: folder.path, models: [NewestTrack<InSequence>.self], options: third)
    let error = #expect(throws: StoreError.self) {
      while case .progressed = try worker.step() {}
    }
    #expect(error?.code == .tooNew)
    #expect(try store.conversions().first?.versions == [1, 2])
    try store.finishConversions()
    let expected = (1...300).map { NewestTrack(Track<InSequence>($0)) }
    #expect(try store.read { try $0.fetch(NewestTrack<InSequence>.all) } == expected)
    #expect(try store.verify().problems == [])
  }
}

/// A person with a field that no step sets.
private struct LongPerson: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Person",
    fields: Person.schema.fields + [FieldSchema("isNew", Bool.self, default: true)]
  )
  var person: Person
  var isNew: Bool
  var primaryKey: Int64 { person.id }

  init(from record: borrowing RecordView) throws(RecordError) {
    person = try Person(from: record)
    isNew = try record.value(at: 6)
  }

  func encode(to record: inout RecordEncoder) {
    person.encode(to: &record)
    record.encode(isNew)
  }
}
