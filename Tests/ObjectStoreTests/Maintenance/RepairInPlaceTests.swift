import Foundation
import LMDB
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct RepairInPlaceTests {
  private func damage(_ store: DamagedStore) throws {
    try store.edit("Ticket", .integers) { tx, table in
      let key = unsafe withUnsafeBytes(of: UInt64(5)) { unsafe Array($0) }
      try tx.put([1, 2, 3].span, for: key.span, in: table)
    }
  }

  @Test func `a repair does not follow a link in the place of its folder`() throws {
    let damaged = try DamagedStore()
    let other = try DamagedStore()
    try FileManager.default.createSymbolicLink(
      atPath: damaged.path + "/data.mdb.repair",
      withDestinationPath: other.path
    )
    #expect(throws: StoreError.self) { try Store.repairInPlace(at: damaged.path) }
    #expect(try Store.verify(at: other.path).isValid)
  }

  @Test func `the repaired file replaces the damaged one, which is kept`() throws {
    let damaged = try DamagedStore()
    try damage(damaged)
    let file = URL(filePath: damaged.path + "/data.mdb")
    #expect(unsafe chmod(file.path, 0o640) == 0)
    let bytes = try Data(contentsOf: file)
    let (report, kept) = try Store.repairInPlace(at: damaged.path)
    #expect(report.models["Ticket"]?.lost == [5])
    #expect(try Data(contentsOf: URL(filePath: kept)) == bytes)
    #expect(try Store.verify(at: damaged.path).problems == [])
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
    #expect(mode as? Int == 0o640)
    // The next damaged file does not replace the first.
    try damage(damaged)
    #expect(try Store.repairInPlace(at: damaged.path).damagedFile == kept + "-2")
    #expect(try Data(contentsOf: URL(filePath: kept)) == bytes)
    let store = try Store(at: damaged.path, models: [Ticket.self])
    try store.write { tx in try tx.insert(Ticket(id: 1_000, seat: "new", row: 1)) }
  }

  @Test func `a store that was copied without its lock file can be repaired`() throws {
    let damaged = try DamagedStore()
    try damage(damaged)
    try FileManager.default.removeItem(atPath: damaged.path + "/lock.mdb")
    #expect(try Store.repairInPlace(at: damaged.path).report.models["Ticket"]?.saved == 399)
    #expect(try Store.verify(at: damaged.path).isValid)
  }

  @Test func `an open store is left alone`() throws {
    let damaged = try DamagedStore()
    let store = try damaged.open()
    #expect { try Store.repairInPlace(at: damaged.path) } throws: { error in
      (error as? StoreError)?.code == .busy
    }
    withExtendedLifetime(store) {}
    #expect(try Store.verify(at: damaged.path).isValid)
  }

  @Test func `a failure at any step leaves the damaged file in its place`() throws {
    for step in 0... {
      let damaged = try DamagedStore()
      try damage(damaged)
      let file = URL(filePath: damaged.path + "/data.mdb")
      let bytes = try Data(contentsOf: file)
      let steps = StepCounter()
      let failing: @Sendable (DurableFile.Call) -> Int32 = { call in
        // The sync after the final rename fails too late to undo it.
        if case .sync(let path) = call, path == damaged.path, steps.hasRenamed { return 0 }
        if case .rename(_, to: file.path) = call { steps.noteRename() }
        return steps.next() == step ? ENOSPC : 0
      }
      let result = Result {
        try DurableFile.$observer.withValue(failing) { try Store.repairInPlace(at: damaged.path) }
      }
      guard case .failure = result else {
        #expect(step > 2)
        return
      }
      #expect(try Data(contentsOf: file) == bytes)
      #expect(!FileManager.default.fileExists(atPath: damaged.path + "/data.mdb.repair"))
    }
  }

  @Test func `indexes are rebuilt without the models, whatever the version of the schema`() throws {
    let damaged = try DamagedStore()
    _ = try Store(
      at: damaged.path,
      models: [Ticket.self],
      options: StoreOptions(schemaVersion: 7)
    )
    let before = try damaged.open().storedModels()
    for model in before {
      let index = try #require(model.indexes.first { $0.entryCount > 0 })
      try damaged.edit("\(model.name)/index/\(index.id)", .bytes) { tx, database in
        try tx.removeAll(in: database)
      }
    }
    #expect(try Store.verify(at: damaged.path).problemCounts.keys.contains(.index))
    #expect(try Store.rebuildIndexes(at: damaged.path) > 0)
    #expect(try Store.verify(at: damaged.path).problems == [])
    #expect(
      try damaged.open().storedModels().map { Set($0.indexes) } == before.map { Set($0.indexes) }
    )
  }
}

/// Counts the calls of one test.
private final class StepCounter: Sendable {
  private let state = Mutex((count: -1, hasRenamed: false))

  var hasRenamed: Bool { state.withLock { $0.hasRenamed } }
  func noteRename() { state.withLock { $0.hasRenamed = true } }

  func next() -> Int {
    state.withLock { state in
      state.count += 1
      return state.count
    }
  }
}
