import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Tests primary keys that the store assigns.
@Suite struct NumberingTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func open(_ name: String = "store") throws -> Store {
    try Store(at: folder.path(name), models: [Ticket.self, Seat.self])
  }

  private func add(to store: Store, _ count: Int = 1) throws -> [Int] {
    try store.write { tx in
      try (0..<count).map { _ in
        let id = try tx.nextKey(for: Ticket.self)
        try tx.insert(Ticket(id: id, seat: "\(id)", row: 0))
        return id
      }
    }
  }

  @Test func `keys are assigned from 1 across writes and opens`() throws {
    #expect(try add(to: open(), 3) == [1, 2, 3])
    #expect(try add(to: open(), 2) == [4, 5])
  }

  @Test func `the key of a deleted object is not reused`() throws {
    let store = try open()
    #expect(try add(to: store, 2) == [1, 2])
    try store.write { tx in _ = try tx.delete(Ticket.all) }
    #expect(try add(to: store) == [3])
  }

  @Test func `unused keys are not reassigned unless their write fails`() throws {
    struct Failure: Error {}
    let store = try open()
    let unused = try store.write { tx in
      (try tx.nextKey(for: Ticket.self), try tx.nextKey(for: Ticket.self))
    }
    #expect(unused == (1, 2))
    #expect(throws: Failure.self) {
      try store.write { tx in
        let key = try tx.nextKey(for: Ticket.self)
        #expect(key == 3)
        throw Failure()
      }
    }
    try store.write { tx in
      let nested: Int? = try? tx.nested { inner in
        let key = try inner.nextKey(for: Ticket.self)
        #expect(key == 3)
        throw Failure()
      }
      #expect(nested == nil)
      let key = try tx.nextKey(for: Ticket.self)
      #expect(key == 3)
    }
  }

  @Test func `keys that are already in use are skipped`() throws {
    let store = try open()
    try store.write { tx in
      for id in [2, 3, 7, 1_000] { try tx.insert(Ticket(id: id, seat: "\(id)", row: 0)) }
    }
    // The store has four objects, so the first assigned key is 5.
    #expect(try add(to: store, 3) == [5, 6, 8])
  }

  @Test func `each model has its own counter, which ends at the maximum of the key type`() throws {
    let store = try open()
    #expect(try add(to: store) == [1])
    try store.write { tx in
      for number in 1...127 {
        let id = try tx.nextKey(for: Seat.self)
        #expect(id == number)
        try tx.insert(Seat(id: id))
      }
      do {
        _ = try tx.nextKey(for: Seat.self)
        Issue.record("nextKey returned a key beyond Int8.max")
      } catch let error as StoreError {
        #expect(error.code == .keysExhausted)
      }
    }
  }

  @Test func `the key counter survives compaction and repair`() throws {
    do {
      let store = try open()
      _ = try add(to: store, 3)
      try store.write { tx in
        _ = try tx.delete(Ticket.self, key: 3)
        let key = try tx.nextKey(for: Ticket.self)
        #expect(key == 4)
      }
    }
    try Store.compact(at: folder.path("store"))
    _ = try Store.repair(at: folder.path("store"), into: folder.path("repaired"))
    #expect(try add(to: open()) == [5])
    #expect(try add(to: open("repaired")) == [5])
    #expect(try Store.verify(at: folder.path("repaired")).isValid)
  }
}

/// A model with only 127 positive keys.
private struct Seat: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Seat",
    fields: [FieldSchema("id", Int8.self, isPrimaryKey: true)]
  )

  var id: Int8
  var primaryKey: Int8 { id }

  init(id: Int8) {
    self.id = id
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
  }
}
