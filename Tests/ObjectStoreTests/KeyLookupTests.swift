import ObjectStore
import TestSupport
import Testing

/// Lookups of many primary keys at once.
struct KeyLookupTests {
  private let folder: TemporaryFolder
  private let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try folder.open(Item.self)
  }

  private func item(_ id: Int) -> Item {
    Item(
      id: id,
      rank: id * 3,
      score: Double(id) / 2,
      name: "name \(id)",
      colour: .red,
      priority: .low,
      nick: id % 2 == 0 ? nil : "\(id)",
      age: id % 3 == 0 ? nil : id,
      tags: ["\(id % 5)"],
      marks: []
    )
  }

  private func insert(_ ids: some Sequence<Int>) throws {
    try store.write { tx in try tx.insert(contentsOf: ids.map(item)) }
  }

  @Test func `the objects are in the order of the keys, and missing keys are nil`() throws {
    try insert(0..<5_000)
    var random = SplitMix64(seed: 7)
    let keys = (0..<3_000).map { _ in Int.random(in: 0..<10_000, using: &random) }
    let found = try store.read { tx in try tx.find(Item.self, keys: keys) }
    #expect(found == keys.map { $0 < 5_000 ? item($0) : nil })
    #expect(found.contains(nil) && found.contains { $0 != nil })
  }

  @Test func `repeated keys find the same object`() throws {
    try insert(0..<3)
    let found = try store.read { tx in try tx.find(Item.self, keys: [1, 7, 1]) }
    #expect(found == [item(1), nil, item(1)])
  }

  @Test func `no keys and an empty store find nothing`() throws {
    #expect(try store.read { tx in try tx.find(Item.self, keys: []) } == [])
    #expect(try store.read { tx in try tx.find(Item.self, keys: [1, 2]) } == [nil, nil])
  }

  @Test func `a write finds its own changes`() throws {
    try insert(0..<10)
    let found = try store.write { tx in
      try tx.delete(Item.self, key: 3)
      try tx.insert(item(15))
      try tx.update(Item.self, key: 4) { $0.rank = -1 }
      return try tx.find(Item.self, keys: Array(0..<20))
    }
    #expect(found.indices.filter { found[$0] != nil } == [0, 1, 2, 4, 5, 6, 7, 8, 9, 15])
    #expect(found[4]?.rank == -1)
  }
}
