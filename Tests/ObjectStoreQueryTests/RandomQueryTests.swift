import Foundation
import ObjectStore
import TestSupport
import Testing

@Suite struct RandomQueryTests {
  /// Seven fixed seeds and a random one.
  static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, 7, UInt64.random(in: 8 ... .max)]
  /// More than 100,000 queries in total.
  ///
  /// `DLSTORE_QUERIES` reduces the number, for sanitizer runs.
  static let queriesPerSeed =
    ProcessInfo.processInfo.environment["DLSTORE_QUERIES"].flatMap { Int($0) } ?? 12_800

  @Test(arguments: seeds)
  func `every random query returns the same as filtering and sorting an array`(seed: UInt64) throws
  {
    var random = SplitMix64(seed: seed)
    var count = 0
    while count < Self.queriesPerSeed {
      switch count / 400 % 7 {
      case 0: count += try run(SingleSample.self, &random, seed)
      case 1: count += try run(CompoundSample.self, &random, seed)
      case 2: count += try run(TextSample.self, &random, seed)
      case 3: count += try run(ColumnarSample.self, &random, seed)
      case 4: count += try run(MixedSample.self, &random, seed)
      case 5: count += try run(KeyedSample.self, &random, seed)
      default: count += try run(BareSample.self, &random, seed)
      }
    }
    #expect(count >= Self.queriesPerSeed)
  }

  private struct Rollback: Error {}

  private func run<M: SampleModel>(
    _ model: M.Type,
    _ random: inout SplitMix64,
    _ seed: UInt64
  ) throws -> Int {
    let folder = try TemporaryFolder()
    var rows: [Row] = []
    if random.chance(50) {
      let old = try Store(at: folder.path, models: [OldSample<M>.self])
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        var row = random.row(rows.count)
        row.ratio = nil
        rows.append(row)
      }
      try old.write { [rows] tx in for row in rows { try tx.insert(OldSample<M>(row: row)) } }
    }
    let store = try Store(at: folder.path, models: [M.self])
    var nextID = rows.count
    var count = 0
    for _ in 0..<4 {
      let before = rows
      let isRolledBack = random.chance(30)
      do {
        try store.write { tx in
          for _ in 0..<Int.random(in: 0...15, using: &random) {
            try change(&rows, &nextID, &tx, M.self, &random)
          }
          try sortInStorageOrder(&rows, of: M.self, in: tx)
          for _ in 0..<40 { try check(tx, rows, M.self, &random, seed, &count) }
          if isRolledBack { throw Rollback() }
        }
      } catch is Rollback {
        rows = before
      }
      try store.read { tx in
        try sortInStorageOrder(&rows, of: M.self, in: tx)
        for _ in 0..<60 { try check(tx, rows, M.self, &random, seed, &count) }
      }
    }
    return count
  }

  private func change<M: SampleModel>(
    _ rows: inout [Row],
    _ nextID: inout Int,
    _ tx: inout StoreTransaction,
    _ model: M.Type,
    _ random: inout SplitMix64
  ) throws {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<5:
      rows.append(random.row(nextID))
      nextID += 1
      try tx.insert(M(row: rows[rows.count - 1]))
    case 5..<8 where !rows.isEmpty:
      let index = Int.random(in: rows.indices, using: &random)
      rows[index] = random.row(rows[index].id)
      try tx.upsert(M(row: rows[index]))
    case 8 where !rows.isEmpty:
      let index = Int.random(in: rows.indices, using: &random)
      let rank = random.element(Samples.ranks)
      let row = rows[index]
      // An update stores the default of a missing value.
      rows[index].rank = rank
      rows[index].ratio = row.ratio ?? 0
      _ = try tx.update(M.self, key: row.id) { object in
        var row = object.row
        row.rank = rank
        object = M(row: row)
      }
    case 9 where !rows.isEmpty:
      let removed = rows.remove(at: Int.random(in: rows.indices, using: &random))
      try tx.delete(M.self, key: removed.id)
    default: break
    }
  }

  /// Sorts the rows in the order of a query without conditions and sort keys.
  ///
  /// A model with sequential ids has them in the order of insertion, in which the rows already are.
  private func sortInStorageOrder<M: SampleModel>(
    _ rows: inout [Row],
    of model: M.Type,
    in tx: borrowing some ObjectReader & ~Copyable
  ) throws {
    guard M.schema.layout == .byKey else { return }
    let ids = try tx.fetch(M.all).map(\.row.id)
    #expect(ids.sorted() == rows.map(\.id).sorted())
    let positions = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
    rows.sort { positions[$0.id] ?? 0 < positions[$1.id] ?? 0 }
  }

  // MARK: A single query

  private func check<M: SampleModel>(
    _ tx: borrowing some ObjectReader & ~Copyable,
    _ rows: [Row],
    _ model: M.Type,
    _ random: inout SplitMix64,
    _ seed: UInt64,
    _ count: inout Int
  ) throws {
    count += 1
    let condition = Condition<M>.random(&random, depth: random.element([0, 0, 1, 1, 2, 3]))
    var order = RandomOrder<M>(Query(condition.filter))
    for _ in 0..<random.element([0, 0, 1, 1, 1, 2, 3]) { order.addRandom(&random) }
    let all = order.sorted(rows.filter(condition.test)).map(\.id)
    var query = order.query
    if random.chance(50) { query.limit = Int.random(in: 0...8, using: &random) }
    if random.chance(20) { query.offset = Int.random(in: 0...5, using: &random) }
    let expected = Array(all.dropFirst(query.offset).prefix(query.limit ?? .max))
    var problem: String?
    func expect<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) {
      if found != wanted { problem = "\(what): \(found), not \(wanted)" }
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: expect(try tx.count(query), expected.count, "count")
    case 1:
      expect(try tx.exists(query), !expected.isEmpty, "exists")
      expect(try tx.first(query)?.row.id, expected.first, "first")
    case 2 where !order.hasComputed:
      let names = try tx.fetch(query) { view in "\(try view.id) \(try view.rank)" }
      let ranks = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0.rank) })
      expect(names, expected.map { "\($0) \(ranks[$0] ?? -1)" }, "projection")
    case 3 where !order.hasComputed:
      expect(try pages(tx, order.query, size: random.element([1, 2, 7, 100])), all, "pages")
    case 4:
      var found: [Int] = []
      try tx.forEach(query) { object in
        found.append(object.row.id)
        return found.count < 3
      }
      expect(found, Array(expected.prefix(3)), "forEach")
    default: expect(try tx.fetch(query).map(\.row.id), expected, "fetch")
    }
    guard let problem else { return }
    Issue.record(
      """
      seed \(seed), query \(count), \(M.schema.name) where \(condition.text)\(order.text) \
      limit \(query.limit ?? -1) offset \(query.offset): \(problem); \(try tx.explain(query))
      """
    )
  }

  private func pages<M: SampleModel>(
    _ tx: borrowing some ObjectReader & ~Copyable,
    _ query: Query<M>,
    size: Int
  ) throws -> [Int] {
    var ids: [Int] = []
    var token: PageToken?
    repeat {
      let page = try tx.page(query, size: size, after: token)
      ids += page.objects.map(\.row.id)
      // Round-trips the token through its string form.
      token = try page.next.map { try #require(PageToken($0.description)) }
    } while token != nil
    return ids
  }
}
