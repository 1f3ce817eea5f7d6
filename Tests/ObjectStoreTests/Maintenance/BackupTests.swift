import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct BackupTests {
  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test func `a backup made during writes contains exactly one commit`() async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path("one"), models: [Ticket.self])
    // Each commit adds two objects, so an odd count would be half a commit.
    func add(_ number: Int) throws {
      try store.write(durability: .deferred) { tx in
        try tx.insert(Ticket(id: 2 * number, seat: "a\(number)", row: 0))
        try tx.insert(Ticket(id: 2 * number + 1, seat: "b\(number)", row: 0))
      }
    }
    for number in 0..<100 { try add(number) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for number in 100..<400 { try add(number) } }
      group.addTask {
        for copy in 0..<5 { try store.backup(to: folder.path("copy\(copy)")) }
      }
      try await group.waitForAll()
    }
    for number in 0..<5 {
      let copy = folder.path("copy\(number)")
      #expect(try Store.verify(at: copy).problems == [])
      try checkCopy(copy)
    }
    #expect(try folder.names() == (0..<5).map { "copy\($0)" } + ["one"])
  }

  private func checkCopy(_ path: String) throws {
    let store = try Store(at: path, models: [Ticket.self])
    let model = try #require(try store.storedModels().first)
    #expect(model.objectCount >= 200 && model.objectCount.isMultiple(of: 2))
    #expect(try store.read { tx in try tx.find(Ticket.self, key: 199)?.seat } == "b99")
    try store.write { tx in try tx.insert(Ticket(id: 5_000, seat: "new", row: 1)) }
  }

  @Test func `a failed backup replaces nothing and leaves no files`() throws {
    let damaged = try DamagedStore()
    let store = try damaged.open()
    try damaged.folder.makeFile("taken/file", "mine")
    #expect(code { try store.backup(to: damaged.folder.path("taken")) } == .alreadyExists)
    #expect(code { try store.backup(to: damaged.path) } == .alreadyExists)
    #expect(code { try store.backup(to: damaged.folder.path("no/such")) } == .notFound)
    #expect(try damaged.folder.names() == ["store", "taken"])
    #expect(try damaged.folder.names(in: "taken") == ["file"])
  }

  @Test func `compacting returns free pages, and throws busy while the store is open`() throws {
    let damaged = try DamagedStore()
    do {
      let store = try Store(at: damaged.path, models: [NewNote.self])
      try store.write { tx in for id in 1...390 { _ = try tx.delete(NewNote.self, key: id) } }
      #expect(code { try Store.compact(at: damaged.path) } == .busy)
      #expect(try store.statistics().freePages > 50)
    }
    let before = try FileSize.of(damaged.path + "/data.mdb")
    let freedBytes = try Store.compact(at: damaged.path)
    #expect(freedBytes > 0)
    #expect(try FileSize.of(damaged.path + "/data.mdb") == before - freedBytes)
    #expect(try Store.verify(at: damaged.path).isValid)
    let store = try Store(at: damaged.path, models: [NewNote.self, Ticket.self])
    #expect(try store.statistics().freePages == 0)
    #expect(try store.read { tx in try tx.find(Ticket.self, key: 400)?.seat } == "seat 400")
    try store.write { tx in try tx.insert(Ticket(id: 401, seat: "seat 401", row: 0)) }
    #expect(code { try Store.compact(at: damaged.folder.path("none")) } == .notFound)
  }

  @Test func `a backup that was never opened can be compacted`() throws {
    let damaged = try DamagedStore()
    let backup = damaged.folder.path("backup")
    try damaged.open().backup(to: backup)
    try Store.compact(at: backup)
    #expect(try Store.verify(at: backup).isValid)
  }

  @Test func `rebuildIndexes repairs damaged indexes`() throws {
    let damaged = try DamagedStore()
    let seat = FieldSchema.id(forName: "seat")
    let stars = FieldSchema.id(forName: "stars")
    try damaged.edit("Ticket/index/\(seat)", .bytes) { tx, table in
      try tx.removeAll(in: table)
    }
    try damaged.edit("Note/index/\(stars)", .bytes) { tx, table in
      try tx.put([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].span, in: table)
    }
    let store = try damaged.open()
    #expect(try store.verify().problemCounts == [.index: 401])
    let entries = try store.verify().models.values.reduce(0) { $0 + $1.indexEntries }
    #expect(try store.rebuildIndexes() == entries + 399)
    #expect(try store.verify().isValid)
  }

  @Test func `rebuildIndexes throws duplicateKey if objects violate a unique index`() throws {
    let damaged = try DamagedStore()
    let id = FieldSchema.id(forName: "row")
    try damaged.edit("store", .bytes) { tx, table in
      let description = IndexDescription(
        parts: [.init(fieldID: id, type: .signed(bits: 64))],
        isUnique: true
      )
      try tx.put(description.encoded.span, for: Array("index/Ticket/\(id)".utf8).span, in: table)
    }
    try damaged.edit("Ticket/index/\(id)", .bytes) { tx, table in }
    let store = try damaged.open()
    #expect(code { try store.rebuildIndexes() } == .duplicateKey)
    let seats = try store.storedModels().first { $0.name == "Ticket" }?.indexes
    #expect(seats?.map(\.entryCount).sorted() == [0, 400, 400])
  }
}
