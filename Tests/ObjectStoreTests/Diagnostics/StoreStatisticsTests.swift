import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct StoreStatisticsTests {
  @Test func `statistics count the entries and pages of each model`() throws {
    let damaged = try DamagedStore()
    let store = try damaged.open()
    let statistics = try store.statistics()
    #expect(Set(statistics.models.keys) == ["Note", "Ticket"])
    let notes = try #require(statistics.models["Note"])
    #expect(notes.objects == 360)
    #expect(notes.records.entries == 360)
    #expect(notes.hotParts.entries == 13)
    #expect(notes.primaryKeys.entries == 360)
    #expect(notes.records.depth == 2)
    #expect(notes.records.pages > 100)
    #expect(notes.records.byteCount == notes.records.pages * statistics.pageSize)
    #expect(notes.byteCount > notes.records.byteCount)
    let tickets = try #require(statistics.models["Ticket"])
    #expect(tickets.indexes.values.map(\.entries) == [400, 400])
    #expect(statistics.fileSize <= statistics.mapSize)
    let used = statistics.models.values.reduce(0) { $0 + $1.byteCount }
    #expect(used + statistics.freePages * statistics.pageSize < statistics.fileSize)
    #expect(statistics.lastCommit == (try store.commitNumber()))
  }

  @Test func `the age of a reader counts the commits since its snapshot`() throws {
    let damaged = try DamagedStore()
    let store = try Store(at: damaged.path, models: [Ticket.self])
    #expect(try store.statistics().slowReaders(ageInCommits: 1) == [])
    let readers = try store.read { _ in
      for id in 1_000..<1_005 {
        try store.write(durability: .deferred) { tx in
          try tx.insert(Ticket(id: id, seat: "new \(id)", row: 0))
        }
      }
      return try store.statistics().readers
    }
    let oldest = try #require(readers.first)
    #expect(oldest.ageInCommits == 5)
    #expect(oldest.processID == ProcessInfo.processInfo.processIdentifier)
    #expect(try store.statistics().slowReaders(ageInCommits: 1) == [])
  }
}
