import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite(.timeLimit(.minutes(10))) struct BatchTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func makeStore(_ name: String = "store") throws -> Store {
    let path = folder.path(name) as String
    return try Store(at: path, models: [Everything.self, Item.self, Ticket.self])
  }

  private func item(_ id: Int, _ random: inout SplitMix64) -> Item {
    let number = Int.random(in: 0...5, using: &random)
    return Item(
      id: id,
      rank: number,
      score: Double(number) / 2,
      name: "name \(number)",
      colour: .allCases.randomElement(using: &random) ?? .red,
      priority: .low,
      nick: number == 0 ? nil : "\(number)",
      age: number == 1 ? nil : number,
      tags: ["\(number)", "all"],
      marks: []
    )
  }

  // MARK: Equivalence with single writes

  @Test func `a batch of upserts has the same result as single upserts`() throws {
    let (batched, single) = (try makeStore("batched"), try makeStore("single"))
    var random = SplitMix64(seed: 9)
    for round in 0..<40 {
      let start = (try batched.historyToken(), try single.historyToken())
      // Contains repeated, existing and new items; some existing items do not change.
      let items = (0..<Int.random(in: 0...150, using: &random)).map { _ in
        item(Int.random(in: 0...300, using: &random), &random)
      }
      let deletedID = Int.random(in: 0...300, using: &random)
      let added = try batched.write(durability: .deferred) { tx in
        try tx.delete(Item.self, key: deletedID)
        let half = items.count / 2
        return try tx.upsert(contentsOf: items[..<half])
          + tx.upsert(contentsOf: items[half...].lazy.map { $0 })
      }
      let expected = try single.write(durability: .deferred) { tx in
        try tx.delete(Item.self, key: deletedID)
        return try items.reduce(0) { try $0 + (tx.upsert($1) ? 1 : 0) }
      }
      #expect(added == expected)
      // Fetched in id order, so this also compares the order of insertion.
      let (found, wanted) = (
        try batched.read { try $0.fetch(Item.all) },
        try single.read { try $0.fetch(Item.all) }
      )
      try #require(found == wanted, "round \(round)")
      guard case .changes(let actual) = try batched.changes(since: start.0, of: Item.self),
        case .changes(let reference) = try single.changes(since: start.1, of: Item.self)
      else {
        Issue.record("the history has expired")
        return
      }
      #expect(actual.inserted == reference.inserted)
      #expect(actual.deleted == reference.deleted)
      #expect(actual.updated.map(\.object) == reference.updated.map(\.object))
      #expect(actual.updated.map(\.fields) == reference.updated.map(\.fields))
    }
    #expect(try batched.verify().isValid)
  }

  @Test func `the last of several objects with the same key is stored`() throws {
    let store = try makeStore()
    let added = try store.write { tx in
      try tx.insert(Everything(id: 1, text: "old"))
      return try tx.upsert(contentsOf: [
        Everything(id: 1, text: "a"), Everything(id: 2, text: "b"), Everything(id: 1, text: "c"),
        Everything(id: 2, text: "d"),
      ])
    }
    #expect(added == 1)
    let values = try store.read { try $0.fetch(Everything.all).map(\.text) }
    #expect(values == ["c", "d"])
  }

  @Test func `objects are inserted in input order`() throws {
    let store = try makeStore()
    let ids = (1...3_000).map { Int64($0 * 7_919 % 3_001) }
    try store.write { tx in try tx.insert(contentsOf: ids.map { Everything(id: $0) }) }
    #expect(try store.read { try $0.fetch(Everything.all).map(\.id) } == ids)
    #expect(try store.verify().isValid)
  }

  @Test func `an empty batch changes nothing`() throws {
    let store = try makeStore()
    let added = try store.write { tx in
      try tx.insert(contentsOf: [Everything]())
      return try tx.upsert(contentsOf: [Everything]())
    }
    #expect(added == 0)
    #expect(try store.read { try $0.count(Everything.all) } == 0)
  }

  // MARK: Errors

  @Test(arguments: [[1, 2, 3, 9], [1, 2, 3, 1]])
  func `an existing key throws duplicateKey after the preceding objects were added`(
    _ ids: [Int64]
  ) throws {
    let store = try makeStore()
    try store.write { try $0.insert(Everything(id: 9, text: "old")) }
    try store.write { tx in
      let error = #expect(throws: StoreError.self) {
        try tx.insert(contentsOf: ids.map { Everything(id: $0, text: "new") })
      }
      #expect(error?.code == .duplicateKey)
      #expect(
        error?.message == "an object of Everything with the primary key \(ids[3]) already exists"
      )
    }
    let found = try store.read { try $0.fetch(Everything.all) }
    #expect(found.map(\.id) == [9, 1, 2, 3])
    #expect(found.map(\.text) == ["old", "new", "new", "new"])
    #expect(try store.verify().isValid)
  }

  @Test func `a batch can move a unique value from one object to another`() throws {
    let store = try makeStore()
    try store.write { tx in
      try tx.insert(contentsOf: (1...9).map { Ticket(id: $0, seat: "\($0)", row: 1) })
    }
    // In descending id order, each ticket takes the seat that the previous one has just left.
    try store.write { tx in
      let moved = (1...9).reversed().map { Ticket(id: $0, seat: "\($0 + 1)", row: 1) }
      try tx.upsert(contentsOf: moved)
    }
    let seats = try store.read { try $0.fetch(Ticket.all).map(\.seat) }
    #expect(seats == (2...10).map { "\($0)" })
    let error = #expect(throws: StoreError.self) {
      try store.write { tx in
        try tx.upsert(contentsOf: [Ticket(id: 1, seat: "5", row: 1)])
      }
    }
    #expect(error?.code == .duplicateKey)
    #expect(try store.verify().isValid)
  }

  @Test func `keys with the same hash are distinguished`() throws {
    let store = try makeStore()
    try store.write { try $0.insert(Everything(id: 1, text: "one")) }
    // Simulates that keys 2 and 3 have the same hash as key 1.
    let schema = try StoreOpening.readSchema(
      of: store.environment,
      models: [Everything.self],
      options: StoreOptions()
    )
    let tables = try #require(try schema.tables(of: Everything.self))
    var transaction = try store.environment.beginWrite()
    for key in [2, 3] as [Int64] {
      var writer = ByteWriter()
      writer.write(key)
      var hash = ByteWriter()
      hash.write(XXHash64.hash(writer.bytes, seed: tables.hashSeed))
      var list = ByteWriter()
      list.write(1 as UInt64)
      try transaction.put(list.bytes.span, for: hash.bytes.span, in: tables.keys)
    }
    try transaction.commit()

    try store.write { tx in
      try tx.insert(contentsOf: [Everything(id: 2, text: "two")])
      let added = try tx.upsert(contentsOf: [
        Everything(id: 3, text: "three"), Everything(id: 2, text: "second"),
      ])
      #expect(added == 1)
    }
    let values = try store.read { tx in
      try (1...3).map { try tx.find(Everything.self, key: $0)?.text }
    }
    #expect(values == ["one", "second", "three"])
  }
}
