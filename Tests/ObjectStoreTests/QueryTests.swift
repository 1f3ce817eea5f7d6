import ObjectStore
import TestSupport
import Testing

@Suite struct QueryTests {
  let folder: TemporaryFolder
  let store: Store
  let items: [Item]

  static let names =
    ["", "a", "ab", "abc", "b", "a\0", "a\0b", "e\u{301}", "\u{E9}", "f", "\u{1F600}", "z"]
    + [439, 440, 441, 500].flatMap { count in
      ["", "\0", "x", "y"].map { String(repeating: "k", count: count) + $0 }
    }
  static let scores: [Double] = [
    0, -0.0, 1, -1, 1.5, -1.5, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .pi, 1e300,
  ]

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Item.self, PlainItem.self])
    var random = SeededGenerator(seed: 1)
    items = (0..<100).map { Self.item($0, &random) }
    try store.write { [items] tx in
      for item in items {
        try tx.insert(item)
        try tx.insert(PlainItem(item: item))
      }
    }
  }

  private static func item(_ id: Int, _ random: inout SeededGenerator) -> Item {
    Item(
      id: id,
      rank: Int.random(in: -5...5, using: &random),
      score: random.element(of: scores),
      name: random.element(of: names),
      colour: random.element(of: Colour.allCases),
      priority: random.element(of: Priority.allCases),
      nick: Bool.random(using: &random) ? random.element(of: names) : nil,
      age: Bool.random(using: &random) ? Int.random(in: -3...3, using: &random) : nil,
      tags: Set((0..<3).map { _ in random.element(of: names) }),
      marks: (0..<2).map { _ in random.element(of: scores) }
    )
  }

  /// The same condition for the indexed model, for the model without indexes, and in Swift.
  private struct Condition: Sendable {
    var indexed: Filter<Item>
    var plain: Filter<PlainItem>
    var test: @Sendable (Item) -> Bool
  }

  private static func isBefore(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private static func isEqual(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8)
  }

  private func simple(_ random: inout SeededGenerator) -> Condition {
    let indexed = Item.columns
    let plain = PlainItem.columns
    let rank = Int.random(in: -6...6, using: &random)
    let score = random.element(of: Self.scores)
    let name = random.element(of: Self.names)
    let colour = random.element(of: Colour.allCases)
    let priority = random.element(of: Priority.allCases)
    switch Int.random(in: 0..<24, using: &random) {
    case 0:
      return Condition(indexed: indexed.rank == rank, plain: plain.rank == rank) { $0.rank == rank }
    case 1:
      return Condition(indexed: indexed.rank < rank, plain: plain.rank < rank) { $0.rank < rank }
    case 2:
      return Condition(indexed: indexed.rank >= rank, plain: plain.rank >= rank) { $0.rank >= rank }
    case 3:
      return Condition(indexed: indexed.rank != rank, plain: plain.rank != rank) { $0.rank != rank }
    case 4:
      return Condition(indexed: indexed.score == score, plain: plain.score == score) {
        $0.score == score
      }
    case 5:
      return Condition(indexed: indexed.score < score, plain: plain.score < score) {
        $0.score < score
      }
    case 6:
      return Condition(indexed: indexed.score <= score, plain: plain.score <= score) {
        $0.score <= score
      }
    case 7:
      return Condition(indexed: indexed.score > score, plain: plain.score > score) {
        $0.score > score
      }
    case 8:
      return Condition(indexed: indexed.score >= score, plain: plain.score >= score) {
        $0.score >= score
      }
    case 9:
      return Condition(indexed: indexed.name == name, plain: plain.name == name) {
        Self.isEqual($0.name, name)
      }
    case 10:
      return Condition(indexed: indexed.name < name, plain: plain.name < name) {
        Self.isBefore($0.name, name)
      }
    case 11:
      return Condition(indexed: indexed.name <= name, plain: plain.name <= name) {
        !Self.isBefore(name, $0.name)
      }
    case 12:
      return Condition(indexed: indexed.name > name, plain: plain.name > name) {
        Self.isBefore(name, $0.name)
      }
    case 13:
      return Condition(indexed: indexed.name >= name, plain: plain.name >= name) {
        !Self.isBefore($0.name, name)
      }
    case 14:
      return Condition(indexed: indexed.name.hasPrefix(name), plain: plain.name.hasPrefix(name)) {
        $0.name.utf8.starts(with: name.utf8)
      }
    case 15:
      return Condition(indexed: indexed.colour == colour, plain: plain.colour == colour) {
        $0.colour == colour
      }
    case 16:
      return Condition(indexed: indexed.priority < priority, plain: plain.priority < priority) {
        $0.priority < priority
      }
    case 17:
      return Condition(indexed: indexed.nick == name, plain: plain.nick == name) {
        $0.nick.map { Self.isEqual($0, name) } ?? false
      }
    case 18:
      return Condition(indexed: indexed.nick == nil, plain: plain.nick == nil) { $0.nick == nil }
    case 19:
      return Condition(indexed: indexed.age > rank, plain: plain.age > rank) {
        $0.age.map { $0 > rank } ?? false
      }
    case 20:
      return Condition(indexed: indexed.age != rank, plain: plain.age != rank) { $0.age != rank }
    case 21:
      return Condition(indexed: indexed.tags.contains(name), plain: plain.tags.contains(name)) {
        $0.tags.contains { Self.isEqual($0, name) }
      }
    case 22:
      return Condition(indexed: indexed.marks.contains(score), plain: plain.marks.contains(score)) {
        $0.marks.contains(score)
      }
    default:
      return Condition(indexed: indexed.rank.isIn([rank, 0]), plain: plain.rank.isIn([rank, 0])) {
        $0.rank == rank || $0.rank == 0
      }
    }
  }

  private func compound(_ depth: Int, _ random: inout SeededGenerator) -> Condition {
    guard depth > 0 else { return simple(&random) }
    let left = compound(depth - 1, &random)
    let right = compound(depth - 1, &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0, 1:
      return Condition(indexed: left.indexed && right.indexed, plain: left.plain && right.plain) {
        left.test($0) && right.test($0)
      }
    case 2, 3:
      return Condition(indexed: left.indexed || right.indexed, plain: left.plain || right.plain) {
        left.test($0) || right.test($0)
      }
    default:
      return Condition(indexed: !left.indexed, plain: !left.plain) { !left.test($0) }
    }
  }

  @Test(arguments: 0..<4)
  func `an index query returns the same as a scan and a Swift filter`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed + 10)
    try store.read { tx in
      for _ in 0..<400 {
        let condition = compound(Int.random(in: 0...2, using: &random), &random)
        let expected = items.filter(condition.test).map(\.id)
        let indexed = try tx.fetch(Query(condition.indexed)).map(\.id)
        let plain = try tx.fetch(Query(condition.plain)).map(\.item.id)
        #expect(indexed == expected)
        #expect(plain == expected)
        let count = try tx.count(Query(condition.indexed))
        #expect(count == expected.count)
      }
    }
  }

  @Test func `indexes are updated by changes and deletions`() throws {
    var random = SeededGenerator(seed: 99)
    var left = Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0) })
    for round in 0..<40 {
      var changed = Self.item(Int.random(in: 0..<100, using: &random), &random)
      changed.rank = round
      let isDeletion = round.isMultiple(of: 3)
      left[changed.id] = isDeletion ? nil : changed
      try store.write { [changed] tx -> Void in
        if isDeletion {
          _ = try tx.delete(Item.self, key: changed.id)
        } else {
          try tx.upsert(changed)
        }
      }
    }
    for condition in [Item.columns.rank > 3, Item.columns.age == nil] {
      let found = try store.read { try $0.fetch(Query(condition)) }
      let all = try store.read { try $0.fetch(Query(condition && !(Item.columns.id == -1))) }
      #expect(found.map(\.id) == all.map(\.id))
    }
    for name in Self.names {
      let found = try store.read { try $0.fetch(Item.where { $0.tags.contains(name) }).map(\.id) }
      let expected = left.values.filter { $0.tags.contains { Self.isEqual($0, name) } }.map(\.id)
      #expect(found.sorted() == expected.sorted())
    }
  }

  @Test func `explain names the most selective index`() throws {
    func plan(_ query: Query<Item>) throws -> String {
      try store.read { try $0.explain(query).description }
    }
    #expect(try plan(Item.all) == "scan of 100")
    #expect(try plan(Item.where { $0.rank == 1 }) == "index (rank), 1 equal, ordered")
    #expect(try plan(Item.where { $0.rank > 1 }) == "index (rank), range")
    #expect(
      try plan(Item.where { $0.rank > 1 && $0.name == "a" })
        == "shortest of index (name), 1 equal and index (rank), range; tests each (cold, hot)"
    )
    #expect(
      try plan(Item.where { $0.rank == 1 || $0.rank == 3 })
        == "index (rank), 1 equal in 2 ranges"
    )
    #expect(
      try plan(Item.where { $0.rank == 1 || $0.name == "a" })
        == "union of index (rank), 1 equal and index (name), 1 equal; tests each (cold, hot)"
    )
    #expect(try plan(Item.where { !($0.rank == 1) }) == "scan of 100; tests each (hot)")
    #expect(try plan(Item.where { $0.rank != 1 }) == "scan of 100; tests each (hot)")
    #expect(try plan(Item.where { $0.priority < .high }) == "scan of 100; tests each (cold)")
    #expect(try plan(Item.where { $0.tags == ["a"] }) == "scan of 100; tests each (cold)")
    #expect(
      try plan(Item.where { $0.tags.contains("a") }) == "index (tags), 1 equal, ordered"
    )
    #expect(
      try plan(Item.all.order(by: \.name).limit(3)) == "index (name), ordered"
    )
    #expect(try plan(Item.where { $0.rank < 1 && $0.rank > 1 }) == "nothing")
    let plain = try store.read { try $0.explain(PlainItem.where { $0.rank == 1 }) }
    #expect(plain.description == "scan of 100; tests each (hot)")
    #expect(!plain.isLargeScan)
  }

  @Test func `order, offset and limit select a page`() throws {
    let sorted = items.sorted { ($0.rank, -$0.id) < ($1.rank, -$1.id) }
    let query = Item.all.order(computing: { $0.rank }).order(by: \.id, .descending)
    func page(_ query: Query<Item>) throws -> [Int] {
      try store.read { try $0.fetch(query).map(\.id) }
    }
    #expect(try page(query) == sorted.map(\.id))
    #expect(try page(query.offset(10).limit(5)) == sorted[10..<15].map(\.id))
    #expect(try page(query.offset(98).limit(5)) == sorted[98...].map(\.id))
    #expect(try page(query.offset(1_000)) == [])
    #expect(try page(query.limit(0)) == [])
    #expect(try page(Item.all.offset(10).limit(5)) == [10, 11, 12, 13, 14])
    #expect(try page(Item.all.offset(-1).limit(-1)) == [])
    #expect(try store.read { try $0.count(Item.all.offset(10).limit(1_000)) } == 90)
    #expect(try store.read { try $0.first(query)?.id } == sorted.first?.id)
    #expect(try store.read { try $0.first(query.limit(0)) } == nil)
  }

  @Test func `forEach stops when the body returns false`() throws {
    var seen: [Int] = []
    try store.read { tx in
      try tx.forEach(Item.all) { item in
        seen.append(item.id)
        return seen.count < 3
      }
    }
    #expect(seen == [0, 1, 2])
  }
}

/// A SplitMix64 generator, which produces the same numbers in each run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  mutating func element<Value>(of values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &self)]
  }
}
