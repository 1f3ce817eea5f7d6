import ObjectStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SemiJoinObservationTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: World.models)
  }

  @Test func `a change of only the referenced object is delivered`() async throws {
    try await store.write { tx in
      for name in ["a", "b"] { try tx.insert(Town(name)) }
      for id in 0..<4 { try tx.insert(Person(id, home: id < 2 ? "a" : "b")) }
    }
    var changes = store.observe(Person.where { $0.home.matches { $0.size > 2 } })
      .makeAsyncIterator()
    #expect(try await changes.next()?.snapshot.isEmpty == true)
    try await store.write { try $0.update(Town.self, key: "b") { $0.size = 3 } }
    let change = try #require(try await changes.next())
    #expect(change.snapshot.map(\.id) == [2, 3] && change.insertions == [0, 1])
    try await store.write { try $0.delete(Town.self, key: "b") }
    #expect(try await changes.next()?.deletions == [0, 1])
  }

  @Test func `a change through an inverse is delivered`() async throws {
    try await store.write { tx in
      for name in ["a", "b"] { try tx.insert(Town(name)) }
    }
    var changes = store.observe(Query(Town.residents.isEmpty)).makeAsyncIterator()
    #expect(try await changes.next()?.snapshot.map(\.name) == ["a", "b"])
    try await store.write { try $0.insert(Person(1, home: "a")) }
    #expect(try await changes.next()?.deletions == [0])
    try await store.write { try $0.update(Person.self, key: 1) { $0.home = Reference("b") } }
    let change = try #require(try await changes.next())
    #expect(change.snapshot.map(\.name) == ["a"])
    #expect(change.deletions == [0] && change.insertions == [0])
  }

  @Test func `a change that does not affect the condition is not delivered`() async throws {
    try await store.write { tx in
      try tx.insert(Town("a"))
      try tx.insert(Person(1, home: "a"))
    }
    var changes = store.observe(Person.where { $0.home.matches { $0.size < 5 } })
      .makeAsyncIterator()
    #expect(try await changes.next()?.snapshot.count == 1)
    // None of these affects the result: another field, a value that still matches, a new town.
    try await store.write { tx in
      try tx.update(Town.self, key: "a") { $0.mayor = Reference(1) }
      try tx.update(Town.self, key: "a") { $0.size = 4 }
      try tx.insert(Town("b"))
    }
    try await store.write { try $0.update(Person.self, key: 1) { $0.age = 7 } }
    let change = try #require(try await changes.next())
    #expect(change.modifications == [0] && change.insertions.isEmpty && change.deletions.isEmpty)
  }

  @Test(arguments: 0..<4 as Range<UInt64>, [true, false])
  func `applying each change to the previous result yields the new result`(
    seed: UInt64,
    isOther: Bool
  ) async throws {
    var random = SplitMix64(seed: seed)
    let writer =
      isOther ? try Store(at: folder.path, models: World.models) : store
    var world = World()
    try change(&world, writer, count: 60, &random)
    var people: [ReplayingObserver<Person>] = []
    var towns: [ReplayingObserver<Town>] = []
    for number in 0..<12 {
      var query = Query(RelatedCondition<Person>.person(&random, depth: 1 + number % 3).filter)
      if number % 4 == 1 { query = query.order(by: \.age, .descending) }
      if number % 4 == 2 { query = query.order(by: \.age).limit(4) }
      people.append(try await ReplayingObserver(query, store))
      let condition = RelatedCondition<Town>.town(&random, depth: 1 + number % 3)
      towns.append(try await ReplayingObserver(Query(condition.filter), store))
    }
    for _ in 0..<60 {
      try change(&world, writer, count: Int.random(in: 1...3, using: &random), &random)
      for index in people.indices where random.chance(70) {
        try await people[index].check(store)
      }
      for index in towns.indices where random.chance(70) {
        try await towns[index].check(store)
      }
    }
    #expect(
      people.map(\.changeCount).reduce(0, +) > 50 && towns.map(\.changeCount).reduce(0, +) > 20
    )
  }

  private func change(
    _ world: inout World,
    _ store: Store,
    count: Int,
    _ random: inout SplitMix64
  ) throws {
    try store.write(durability: .deferred) { tx in
      for _ in 0..<count { try world.change(in: &tx, &random) }
    }
  }
}

/// An observer of a query that replays each change and compares the result with the query.
private struct ReplayingObserver<M: Model & Equatable> {
  let query: Query<M>
  var changes: ResultChanges<M>.Iterator
  var last: [M]
  var changeCount = 0

  init(_ query: Query<M>, _ store: Store) async throws {
    self.query = query
    changes = store.observe(query).makeAsyncIterator()
    last = Array(try #require(try await changes.next()).snapshot)
  }

  mutating func check(_ store: Store) async throws {
    let query = query
    let now = try await store.read { try $0.fetch(query) }
    guard now != last else { return }
    let change = try #require(try await changes.next())
    changeCount += 1
    #expect(Array(change.snapshot) == now)
    var replayed = last
    for offset in change.deletions.reversed() { replayed.remove(at: offset) }
    for offset in change.insertions { replayed.insert(change.snapshot[offset], at: offset) }
    for offset in change.modifications { replayed[offset] = change.snapshot[offset] }
    #expect(replayed == now)
    last = now
  }
}
