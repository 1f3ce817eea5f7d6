import Foundation
import TestSupport
import Testing

@testable import ObjectStore

/// Lookups and conditions on objects without their Swift types.
@Suite struct StoredQueryTests {
  private let folder: TemporaryFolder
  private let store: Store

  init() throws {
    folder = try TemporaryFolder()
    let typed = try Store(at: folder.path, models: [NewNote.self, Ticket.self])
    try typed.write { tx in
      for id in 1...200 {
        try tx.insert(Ticket(id: id, seat: "seat \(id)", row: id % 9))
        let tags: Set = ["t\(id % 3)", "t\(id % 5)"]
        let link = id % 4 == 0 ? String(repeating: "long ", count: 200) + "\(id % 8)" : nil
        try tx.insert(
          NewNote(id: id, stars: id % 7, tags: tags, text: "text \(id)", size: 1, link: link)
        )
      }
    }
    store = typed
  }

  private func ids(
    _ model: String,
    _ conditions: (String, StoredCondition.Test)...
  ) throws -> [Int64] {
    let fields = try #require(try store.storedModels().first { $0.name == model }).fields
    let conditions = try conditions.map { name, test in
      let field = try #require(fields.first { $0.name == name })
      return StoredCondition(fieldID: field.id, test: test)
    }
    var ids: [Int64] = []
    try store.forEachStoredObject(of: model, where: conditions) { object in
      if case .signed(let id) = object["id"] { ids.append(id) }
      return true
    }
    return ids
  }

  @Test func `an object is found by its primary key`() throws {
    for id: Int64 in [1, 77, 200] {
      #expect(try store.storedObject(of: "Ticket", key: .signed(id))?["id"] == .signed(id))
    }
    #expect(try store.storedObject(of: "Ticket", key: .signed(201)) == nil)
    func code(_ model: String, _ key: StoredValue) -> StoreError.Code? {
      do {
        _ = try store.storedObject(of: model, key: key)
        return nil
      } catch {
        return (error as? StoreError)?.code
      }
    }
    #expect(code("Ticket", .string("1")) == .invalidInput)
    #expect(code("Ticket", .null) == .invalidInput)
    #expect(code("Tickets", .signed(1)) == .unknownModel)
  }

  @Test func `conditions give the same objects with and without an index`() throws {
    let all = Array(1...200 as ClosedRange<Int64>)
    #expect(try ids("Ticket") == all)
    // Unique index, no index, compound index alone.
    #expect(try ids("Ticket", ("seat", .equals(.string("seat 42")))) == [42])
    #expect(try ids("Ticket", ("row", .equals(.signed(4)))) == all.filter { $0 % 9 == 4 })
    #expect(
      try ids("Ticket", ("seat", .equals(.string("seat 4"))), ("row", .equals(.signed(5)))) == []
    )
    #expect(
      try ids("Note", ("tags", .contains(.string("t1"))))
        == all.filter { $0 % 3 == 1 || $0 % 5 == 1 }
    )
    #expect(try ids("Note", ("tags", .contains(.string("none")))) == [])
    #expect(
      try ids("Note", ("stars", .equals(.signed(3))), ("tags", .contains(.string("t4"))))
        == all.filter { $0 % 7 == 3 && $0 % 5 == 4 }
    )
    #expect(try ids("Note", ("link", .equals(.null))) == all.filter { $0 % 4 != 0 })
    let long = String(repeating: "long ", count: 200)
    #expect(try ids("Note", ("link", .equals(.string(long + "4")))) == all.filter { $0 % 8 == 4 })
    #expect(try ids("Note", ("text", .isDate(.distantPast ..< .distantFuture))) == [])
  }

  @Test func `the search ends when the closure says so`() throws {
    let model = try #require(try store.storedModels().first { $0.name == "Ticket" })
    let row = try #require(model.fields.first { $0.name == "row" })
    for conditions in [[], [StoredCondition(fieldID: row.id, test: .equals(.signed(1)))]] {
      var count = 0
      try store.forEachStoredObject(of: "Ticket", where: conditions) { _ in
        count += 1
        return count < 3
      }
      #expect(count == 3)
    }
  }
}
