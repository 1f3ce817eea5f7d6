import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

// Kills in a migration, its rehearsal and its rollback.

extension MigrationStepTests {
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
