import ObjectStore
import TestSupport
import Testing

/// Reads of many objects of a store that is large enough for lookups in batches.
@Suite struct RecordBatchTests {
  private static let count = 12_000

  private let folder: TemporaryFolder
  private let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.open(Item.self)
    try store.write { tx in try tx.insert(contentsOf: (0..<Self.count).map(Self.item)) }
  }

  private static func item(_ id: Int) -> Item {
    Item(
      id: id,
      rank: id * 7919 % 1000,
      score: 0,
      // Some records have pages of their own.
      name: String(repeating: "n", count: id % 501 == 0 ? 3_000 : 250),
      colour: .red,
      priority: .low,
      nick: nil,
      age: id % 3 == 0 ? nil : id % 40,
      tags: [],
      marks: []
    )
  }

  @Test func `keys in any order find their objects, and missing keys nothing`() throws {
    var random = SplitMix64(seed: 7)
    let keys = (0..<3_000).map { _ in Int.random(in: 0..<Self.count * 2, using: &random) }
    let found = try store.read { tx in try tx.find(Item.self, keys: keys) }
    #expect(found == keys.map { $0 < Self.count ? Self.item($0) : nil })
  }

  @Test func `a query by index finds the objects that a filter of all objects finds`() throws {
    let all = (0..<Self.count).map(Self.item)
    try store.read { tx in
      let ranks = try tx.fetch(Item.where { $0.rank >= 500 && $0.rank < 530 })
      #expect(ranks == all.filter { (500..<530).contains($0.rank) })
      // The index finds candidates, and each of them is tested.
      let ages = try tx.fetch(Item.where { $0.rank < 100 && $0.age == 7 })
      #expect(ages == all.filter { $0.rank < 100 && $0.age == 7 })
      let page = try tx.fetch(Item.where { $0.rank < 100 }.offset(77).limit(50))
      #expect(page == Array(all.filter { $0.rank < 100 }[77..<127]))
      let sorted = try tx.fetch(Item.where { $0.rank < 20 }.order(by: \.id, .descending))
      #expect(sorted == all.filter { $0.rank < 20 }.reversed())
    }
  }

  @Test func `a query for primary keys finds them in the order of insertion`() throws {
    let keys = (0..<400).map { $0 * 37 % (Self.count + 500) }
    let found = try store.read { tx in try tx.fetch(Item.where { $0.id.isIn(keys) }) }
    #expect(found.map(\.id) == Set(keys).filter { $0 < Self.count }.sorted())
  }

  @Test func `a write sees its own changes of objects that a query finds`() throws {
    try store.write { tx in
      try tx.update(Item.self, key: 3) { $0.rank = -1 }
      try tx.delete(Item.self, key: 4)
      let found = try tx.fetch(Item.where { $0.rank < 10 })
      #expect(found.contains { $0.id == 3 && $0.rank == -1 })
      #expect(!found.contains { $0.id == 4 })
      #expect(try tx.find(Item.self, keys: [4, 3]).map { $0?.rank } == [nil, -1])
    }
  }
}
