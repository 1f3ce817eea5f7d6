import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore

/// Objects that an offset skips are not read if an index alone decides that they match.
@Suite struct OffsetTests {
  private static let row = Column<Ticket, Int>(position: 2)
  /// The ids of the objects in row 3.
  private static let ids = Array(stride(from: 3, through: DamagedStore.noteCount, by: 9))

  /// Returns a store in which the first `count` objects of row 3 cannot be read.
  private func store(damaging count: Int) throws -> (folder: DamagedStore, store: Store) {
    let damaged = try DamagedStore()
    let entries = try damaged.entries("Ticket", .integers)
    try damaged.edit("Ticket", .integers) { tx, table in
      // The key of an object is its id.
      for id in Self.ids.prefix(count) {
        let key = entries[id - 1].key
        var value = entries[id - 1].value
        value[value.count - 1] ^= 1
        try tx.put(value.span, for: key.span, in: table)
      }
    }
    return (damaged, try Store(at: damaged.path, models: [Ticket.self]))
  }

  @Test func `the skipped objects of an index query are not read`() throws {
    let (_, store) = try store(damaging: 5)
    let query = Ticket.where { _ in Self.row == 3 }
    let found = try store.read { tx in try tx.fetch(query.offset(5).limit(3)) }
    #expect(found.map(\.id) == Array(Self.ids[5..<8]))
  }

  @Test func `the first object after the offset is read`() throws {
    let (_, store) = try store(damaging: 6)
    let query = Ticket.where { _ in Self.row == 3 }
    let error = #expect(throws: StoreError.self) {
      try store.read { tx in try tx.fetch(query.offset(5).limit(3)) }
    }
    #expect(error?.code == .damaged)
  }

  @Test func `the skipped objects of a query that tests each object are read`() throws {
    let (_, store) = try store(damaging: 1)
    let query = Ticket.where { _ in Self.row == 3 && Column<Ticket, Int>(position: 0) > 0 }
    let error = #expect(throws: StoreError.self) {
      try store.read { tx in try tx.fetch(query.offset(5).limit(3)) }
    }
    #expect(error?.code == .damaged)
  }
}
