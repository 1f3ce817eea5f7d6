import ObjectStore
import TestSupport
import Testing

/// Edits of fields that are stored apart from the rest of their records.
struct HotFieldEditTests {
  private struct Seat: Model, Equatable {
    struct Columns: Sendable {
      let row = Column<Seat, Int>(position: 1)
      let guests = Column<Seat, Int>(position: 2)
    }
    static let columns = Columns()
    static let schema = ModelSchema(
      name: "Seat",
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true),
        FieldSchema("row", Int.self, isIndexed: true, isHot: true),
        FieldSchema("guests", Int.self, isHot: true),
      ]
    )

    var id: Int
    var row: Int
    var guests: Int
    var primaryKey: Int { id }

    init(id: Int, row: Int, guests: Int = 0) {
      self.id = id
      self.row = row
      self.guests = guests
    }

    init(from record: borrowing RecordView) throws(RecordError) {
      id = try record.value(at: 0)
      row = try record.value(at: 1)
      guests = try record.value(at: 2)
    }

    func encode(to record: inout RecordEncoder) {
      record.encode(id)
      record.encode(row)
      record.encode(guests)
    }
  }

  private let folder: TemporaryFolder
  private let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path("store"), models: [Seat.self])
    try store.write { tx in for id in 1...3 { try tx.insert(Seat(id: id, row: 1)) } }
  }

  private func ids(inRow row: Int) throws -> [Int] {
    try store.read { tx in try tx.fetch(Seat.where { $0.row == row }).map(\.id) }.sorted()
  }

  @Test(arguments: [true, false])
  func `an edit of an indexed field moves the object in the index`(isAlone: Bool) throws {
    try store.write { tx in
      try tx.edit(Seat.self, key: 2) { seat in
        if !isAlone { seat.set(\.guests, to: 5) }
        seat.set(\.row, to: 7)
      }
    }
    #expect(try ids(inRow: 1) == [1, 3])
    #expect(try ids(inRow: 7) == [2])
    #expect(try store.verify().problems == [])
  }

  @Test func `an edit of a field without an index changes no index`() throws {
    try store.write { tx in
      try tx.edit(Seat.self, key: 2) { $0.set(\.guests, to: 5) }
    }
    #expect(try ids(inRow: 1) == [1, 2, 3])
    #expect(try store.read { try $0.find(Seat.self, key: 2) } == Seat(id: 2, row: 1, guests: 5))
    #expect(try store.verify().problems == [])
  }
}
