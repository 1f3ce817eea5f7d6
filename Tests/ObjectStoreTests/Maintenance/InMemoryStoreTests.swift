import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct InMemoryStoreTests {
  @Test func `an in-memory store is complete and independent of other stores`() throws {
    let one = try Store(inMemory: [Ticket.self, NewNote.self])
    let other = try Store(inMemory: [Ticket.self])
    try one.write { tx in
      for id in 1...100 { try tx.insert(Ticket(id: id, seat: "seat \(id)", row: id % 4)) }
    }
    #expect(try one.storedModels().first { $0.name == "Ticket" }?.objectCount == 100)
    #expect(try other.storedModels().first { $0.name == "Ticket" }?.objectCount == 0)
    let error = #expect(throws: StoreError.self) {
      try one.write { tx in try tx.insert(Ticket(id: 500, seat: "seat 5", row: 0)) }
    }
    #expect(error?.code == .duplicateKey)
    #expect(!one.isReadOnly)
  }

  @Test func `an in-memory store can be backed up to disk`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(inMemory: [Ticket.self])
    try store.write { tx in try tx.insert(Ticket(id: 1, seat: "a", row: 2)) }
    try store.backup(to: folder.path("kept"))
    let kept = try Store(at: folder.path("kept"), models: [Ticket.self])
    #expect(
      try kept.read { tx in try tx.find(Ticket.self, key: 1) } == Ticket(id: 1, seat: "a", row: 2)
    )
    #expect(try Store.verify(at: folder.path("kept")).isValid)
  }
}
