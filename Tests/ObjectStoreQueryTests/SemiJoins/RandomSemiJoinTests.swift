import Foundation
import ObjectStore
import TestSupport
import Testing

/// Compares conditions across references with the same conditions in Swift.
@Suite struct RandomSemiJoinTests {
  /// At least 8,000 queries in total.
  ///
  /// `DLSTORE_QUERIES` reduces the number.
  static let queriesPerSeed = min(1_000, RandomQueryTests.queriesPerSeed)

  private struct Rollback: Error {}

  @Test(arguments: RandomQueryTests.seeds)
  func `a condition across references returns the same as filtering an array`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var count = 0
    while count < Self.queriesPerSeed {
      let folder = try TemporaryFolder()
      let store = try Store(at: folder.path, models: World.models)
      var world = World()
      for _ in 0..<8 {
        let before = world
        do {
          try store.write { tx in
            for _ in 0..<12 { try world.change(in: &tx, &random) }
            for _ in 0..<6 { try check(tx, world, &random, seed, &count) }
            if random.chance(40) {
              try tx.nested { tx in
                try world.change(in: &tx, &random)
                for _ in 0..<2 { try check(tx, world, &random, seed, &count) }
              }
            }
            if random.chance(20) { throw Rollback() }
          }
        } catch is Rollback {
          world = before
        }
        try store.read { tx in
          for _ in 0..<12 { try check(tx, world, &random, seed, &count) }
        }
      }
    }
    #expect(count >= Self.queriesPerSeed)
  }

  private func check(
    _ tx: borrowing some ObjectReader & ~Copyable,
    _ world: World,
    _ random: inout SplitMix64,
    _ seed: UInt64,
    _ count: inout Int
  ) throws {
    let depth = Int.random(in: 1...3, using: &random)
    count += 1
    switch Int.random(in: 0..<5, using: &random) {
    case 0..<3:
      let condition = RelatedCondition<Person>.person(&random, depth: depth)
      try check(tx, condition, world.people, world, seed) { $0.id }
      let query = Query(condition.filter)
      let expected = world.people.filter { condition.test(world, $0) }
      let sorted = expected.sorted { ($0.age, $0.id) < ($1.age, $1.id) }.prefix(3)
      let first = try tx.fetch(query.order(by: \.age).order(by: \.id).limit(3))
      #expect(first == Array(sorted), "seed \(seed): \(condition.text)")
      #expect(try tx.sum(query, of: \.age) == expected.map(\.age).reduce(0, +))
      #expect(try tx.max(query, of: \.age) == expected.map(\.age).max())
      #expect(try Set(tx.distinct(query, \.age)) == Set(expected.map(\.age)))
      let ages = try tx.fetch(query) { try $0.age }
      #expect(ages == expected.map(\.age), "seed \(seed): \(condition.text)")
    case 3:
      let condition = RelatedCondition<Town>.town(&random, depth: depth)
      try check(tx, condition, world.towns, world, seed) { $0.name }
    default:
      let condition = RelatedCondition<Lap>.lap(&random, depth: depth)
      try check(tx, condition, world.laps, world, seed) { $0.time.bitPattern }
    }
  }

  private func check<M: Model, Key: Equatable>(
    _ tx: borrowing some ObjectReader & ~Copyable,
    _ condition: RelatedCondition<M>,
    _ all: [M],
    _ world: World,
    _ seed: UInt64,
    _ key: (M) -> Key
  ) throws {
    let query = Query(condition.filter)
    let expected = all.filter { condition.test(world, $0) }.map(key)
    let found = try tx.fetch(query).map(key)
    let plan = try tx.explain(query)
    #expect(found == expected, "seed \(seed): \(condition.text) with \(plan)")
    #expect(try tx.count(query) == expected.count, "seed \(seed): \(condition.text)")
    #expect(try tx.exists(query) == !expected.isEmpty, "seed \(seed): \(condition.text)")
    #expect(
      try tx.fetch(query.offset(1).limit(2)).map(key) == Array(expected.dropFirst().prefix(2))
    )
    let page = try tx.page(query, size: 2)
    #expect(page.objects.map(key) == Array(expected.prefix(2)), "seed \(seed): \(condition.text)")
    if let next = page.next {
      let second = try tx.page(query, size: 2, after: next).objects.map(key)
      #expect(second == Array(expected.dropFirst(2).prefix(2)), "seed \(seed): \(condition.text)")
    }
  }
}
