import Foundation
import LMDB
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// The number of kills, which `DLSTORE_KILLS` overrides.
private let kills = ProcessInfo.processInfo.environment["DLSTORE_KILLS"].flatMap(Int.init) ?? 20

/// Kills processes at random moments of migrations and index builds.
@Suite(.serialized, .timeLimit(.minutes(60))) struct MigrationKillTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Ends the process after a time in microseconds, with SIGALRM.
  ///
  /// The system sends the signal. A thread that waits may run too late where there is one processor.
  private static func killSelf(after delay: Int) {
    var time = itimerval()
    time.it_value.tv_sec = delay / 1_000_000
    // Zero would be no time.
    time.it_value.tv_usec = .init(max(delay % 1_000_000, 1))
    // 0 is ITIMER_REAL, which Glibc declares with another type.
    #expect(unsafe setitimer(0, &time, nil) == 0)
  }

  private static func options() -> StoreOptions {
    var options = StoreOptions(schemaVersion: 2)
    options.migration = Migration(steps: LibrarySteps.all)
    options.migration?.batchCount = 50
    return options
  }

  private func makeAuthors(_ ids: ClosedRange<Int64>) throws {
    let store = try Store(at: folder.path, models: [Author.self])
    try store.write { tx in
      for id in ids { try tx.insert(Author(id)) }
    }
  }

  private func migrate() throws -> [Person] {
    let store = try Store(at: folder.path, models: [Person.self], options: Self.options())
    #expect(try store.verify().problems == [])
    return try store.read { try $0.fetch(Person.all) }
  }

  private func bytes() throws -> Data {
    try Data(contentsOf: URL(filePath: folder.path("data.mdb")))
  }

  /// Restores the file, of which only the number of the last commit is another one, and returns it.
  private func rollBack(to before: Data) throws -> Data {
    _ = try Store.rollBackMigration(at: folder.path)
    let restored = try bytes()
    #expect(restored.count == before.count && zip(restored, before).count { $0 != $1 } <= 8)
    return restored
  }

  @Test func `a kill at any moment of a migration leaves the old or the new store`() async throws {
    try makeAuthors(1...1_000)
    var before = try bytes()
    let expected = (1...1_000).map { Author($0) }.filter { !$0.isDeleted }.map { Person($0) }
    let start = ContinuousClock.now
    #expect(try migrate() == expected)
    let time = Int(start.duration(to: .now) / .microseconds(1))
    before = try rollBack(to: before)
    var (old, new) = (0, 0)
    // Other tests may have slowed the measurement, or may slow a migration: the delays adapt, until
    // some kills have met it.
    var longestDelay = time * 3 / 2
    while old + new < kills || old == 0 || (new == 0 && kills >= 100) {
      let path = folder.path
      let delay = Int.random(in: 0...longestDelay)
      await #expect(processExitsWith: .signal(SIGALRM)) {
        [path = path as String, delay = delay as Int] in
        MigrationKillTests.killSelf(after: delay)
        _ = try Store(at: path, models: [Person.self], options: MigrationKillTests.options())
        kill(getpid(), SIGALRM)
      }
      // Either the file is the old one, and the next program continues; or it is complete.
      if try Store.migrationStatus(at: path).version == 2 {
        new += 1
        longestDelay = longestDelay * 3 / 4
        #expect(try migrate() == expected)
        before = try rollBack(to: before)
      } else {
        old += 1
        longestDelay = longestDelay * 4 / 3 + 1
      }
      #expect(try bytes() == before)
    }
    #expect(old > 0 && (new > 0 || kills < 100))
    #expect(try migrate() == expected)
  }

  @Test func `a kill at any moment of a conversion leaves objects that read the same`() async throws
  {
    let expected = (1...1_000).map { Track<InSequence>($0) }
    let version = StepsWhenReadTests.options()
    func check() throws -> Bool {
      let store = try Store(at: folder.path, models: [Track<InSequence>.self], options: version)
      #expect(try store.read { try $0.fetch(Track<InSequence>.all) } == expected)
      #expect(try store.verify().problems == [])
      return try store.conversions().isEmpty
    }
    func reset() throws {
      try? FileManager.default.removeItem(atPath: folder.path("data.mdb"))
      let store = try Store(at: folder.path, models: [OldTrack<InSequence>.self])
      try store.write { tx in
        try tx.insert(contentsOf: (1...1_000).map { OldTrack<InSequence>($0) })
      }
    }
    try reset()
    let start = ContinuousClock.now
    try Self.convert(folder.path)
    let time = Int(start.duration(to: .now) / .microseconds(1))
    var (complete, killed) = (0, 0)
    // As in the migration. What one process has converted, the next one keeps.
    var longestDelay = time * 3 / 2
    while killed < kills || complete == 0 {
      if try check() {
        complete += 1
        longestDelay = longestDelay * 3 / 4
        try reset()
      } else {
        longestDelay = longestDelay * 4 / 3 + 1
      }
      killed += 1
      let path = folder.path
      let delay = Int.random(in: 0...longestDelay)
      await #expect(processExitsWith: .signal(SIGALRM)) {
        [path = path as String, delay = delay as Int] in
        MigrationKillTests.killSelf(after: delay)
        try MigrationKillTests.convert(path)
        kill(getpid(), SIGALRM)
      }
    }
    _ = try check()
    #expect(complete > 0)
  }

  /// Opens a store of tracks and converts all of them, in small transactions.
  private static func convert(_ path: String) throws {
    var options = StepsWhenReadTests.options()
    options.migration?.batchCount = 20
    let store = try Store(at: path, models: [Track<InSequence>.self], options: options)
    try store.finishConversions()
  }

  @Test func `a kill at any moment of an index build leaves a correct store`() async throws {
    try makePages()
    // As in the migration.
    var longestDelay = try buildTime() * 3 / 2
    var (complete, killed) = (0, 0)
    while killed < kills || complete == 0 {
      killed += 1
      let path = folder.path
      let delay = Int.random(in: 0...longestDelay)
      await #expect(processExitsWith: .signal(SIGALRM)) {
        [path = path as String, delay = delay as Int] in
        var options = StoreOptions(schemaVersion: 1)
        options.indexBuilding = .inBackground(above: 0)
        MigrationKillTests.killSelf(after: delay)
        let store = try Store(at: path, models: [SequentialPage.self], options: options)
        store.background.stop()
        var worker = IndexBuildWorker(store.environment, memoryLimit: 5_000)
        while try worker.step() != .nothing {}
        kill(getpid(), SIGALRM)
      }
      if try checkPages() {
        complete += 1
        longestDelay = longestDelay * 3 / 4
      } else {
        longestDelay = longestDelay * 4 / 3 + 1
      }
    }
    #expect(complete > 0)
  }

  private func makePages() throws {
    let store = try Store(at: folder.path, models: [PlainPage.self])
    try store.write { try $0.insert(contentsOf: (0..<2_000).map { PlainPage(Self.page($0)) }) }
  }

  /// Builds the indexes, and returns the time that it took, in microseconds.
  private func buildTime() throws -> Int {
    let start = ContinuousClock.now
    var options = StoreOptions(schemaVersion: 1)
    options.indexBuilding = .inBackground(above: 0)
    do {
      let store = try Store(at: folder.path, models: [SequentialPage.self], options: options)
      store.background.stop()
      var worker = IndexBuildWorker(store.environment, memoryLimit: 5_000)
      while try worker.step() != .nothing {}
    }
    let time = Int(start.duration(to: .now) / .microseconds(1))
    #expect(try checkPages())
    return time
  }

  private static func page(_ number: Int) -> PageContents {
    PageContents(
      key: Data("page \(number)".utf8),
      title: "title \(number % 500)",
      rank: number,
      tags: ["t\(number % 3)", "u\(number % 7)"],
      views: Int64(number)
    )
  }

  /// Checks the store; removes its indexes, and returns true, when all are complete.
  private func checkPages() throws -> Bool {
    let query = SequentialPage.where { $0.title == "title 17" }
    var options = StoreOptions(access: .readWrite, schemaVersion: 1)
    options.indexBuilding = .inBackground(above: 0)
    do {
      // A program without the index may write in between.
      let store = try Store(at: folder.path, models: [PlainPage.self], options: options)
      store.background.stop()
      let key = Self.page(Int.random(in: 0..<2_000)).key
      try store.write { tx in _ = try tx.update(PlainPage.self, key: key) { $0.page.views += 1 } }
      #expect(try store.verify().problems == [])
      guard try store.indexBuilds().isEmpty, try !store.storedModels()[0].indexes.isEmpty else {
        return false
      }
    }
    let store = try Store(at: folder.path, models: [SequentialPage.self], options: options)
    #expect(try store.read { try $0.count(query) } == 4)
    // The next round builds them again.
    let schema = try StoredSchema(store.environment)
    var transaction = try store.environment.beginWrite()
    for index in schema.models[0].tables.indexes {
      let build = IndexBuild(model: "Page", index: index.description)
      let key = Array(MetadataKey.index("Page", index.description.id).utf8)
      try transaction.delete(key.span, in: schema.metadata.database)
      try build.begin(schema.metadata, in: &transaction)
    }
    try schema.metadata.set(schema.epoch + 1, for: MetadataKey.epoch, in: &transaction)
    try transaction.commit()
    return true
  }
}
