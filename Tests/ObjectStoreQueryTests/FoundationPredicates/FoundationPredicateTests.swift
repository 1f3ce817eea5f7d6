import Foundation
import ObjectStore
import TestSupport
import Testing

@Suite struct FoundationPredicateTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Card.self])
  }

  @Test(arguments: RandomQueryTests.seeds)
  func `a translated predicate finds the objects for which it evaluates to true`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<5 {
      let cards = (0..<40).map { Card.random($0, &random) }
      try store.write { tx in
        try tx.delete(Card.all)
        for card in cards { try tx.insert(card) }
      }
      // Evaluates the predicate on stored values, which are the values that a query sees.
      let stored = try store.read { try $0.fetch(Card.all) }
      for number in 0..<100 {
        let predicate = RandomFoundationPredicate.make(&random)
        let query = try Query(translating: predicate)
        let expected = try stored.filter { try predicate.evaluate($0) }.map(\.id)
        let found = try store.read { try $0.fetch(query).map(\.id) }
        guard found != expected else { continue }
        let plan = try store.read { try $0.explain(query) }
        Issue.record(
          "seed \(seed), \(number): \(found), not \(expected): \(predicate) with \(plan)"
        )
      }
    }
  }

  // MARK: Plans

  private func explain(_ predicate: Predicate<Card>) throws -> QueryPlan.Access {
    let query = try Query(translating: predicate)
    return try store.read { try $0.explain(query).access }
  }

  private func isIndexed(_ predicate: Predicate<Card>) throws -> Bool {
    switch try explain(predicate) {
    case .index, .orderedIndex, .shortestIndex, .unionOfIndexes: true
    case .nothing, .scan, .columns, .primaryKeys: false
    }
  }

  @Test func `translated predicates use the same indexes as other conditions`() throws {
    let date = Date.now
    let names = ["a", "b"]
    #expect(try isIndexed(#Predicate { $0.rank == 3 && $0.isOpen }))
    #expect(try isIndexed(#Predicate { $0.date >= date }))
    #expect(try isIndexed(#Predicate { $0.text == "plain" }))
    #expect(try isIndexed(#Predicate { $0.text.starts(with: "plain") }))
    #expect(try isIndexed(#Predicate { names.contains($0.text) }))
    #expect(try isIndexed(#Predicate { $0.nick == nil }))
    #expect(try isIndexed(#Predicate { $0.tags.contains("a") }))
    #expect(try isIndexed(#Predicate { $0.tags.contains { $0 == "a" } }))
    #expect(try isIndexed(#Predicate { ($0.level ?? 0) > 3 }))
    #expect(try explain(#Predicate { $0.id == 3 }) == .primaryKeys(1))
    let ids = [3, 5, 3]
    #expect(try explain(#Predicate { ids.contains($0.id) }) == .primaryKeys(2))
    #expect(try explain(#Predicate { $0.id == 3 || $0.id == 5 }) == .primaryKeys(2))
    // These strings have canonically equivalent strings with other bytes.
    #expect(try explain(#Predicate { $0.text == "Kelvin" }) == .scan)
    #expect(try explain(#Predicate { $0.text == "é" }) == .scan)
    #expect(try explain(#Predicate { $0.text < "plain" }) == .scan)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a constant sequence of many values is tested on a small stack`() async throws {
    try await store.write { tx in
      for id in [7, 200_000] {
        var card = Card(id)
        card.text = "K\(id)"
        card.level = id
        try tx.insert(card)
      }
    }
    let counts = inThread(stackSize: 512 << 10) { [store] () throws -> [Int] in
      let ids = Array(0..<100_000)
      let texts = ids.map { "K\($0)" }
      let few = Array(ids.prefix(20_000))
      let inIDs = #Predicate<Card> { ids.contains($0.id) }
      let inTexts = #Predicate<Card> { texts.contains($0.text) }
      // One condition for each value.
      let inFew = #Predicate<Card> { few.contains($0.level ?? -1) }
      let notInFew = #Predicate<Card> { !few.contains($0.level ?? -1) }
      return try [inIDs, inTexts, inFew, notInFew].map { predicate in
        let query = try Query(translating: predicate)
        return try store.read { tx in try tx.count(query) }
      }
    }
    for try await found in counts { #expect(found == [1, 1, 1, 1]) }
  }

  // MARK: Unsupported predicates

  private func expectRefusal(
    _ predicate: Predicate<Card>,
    _ name: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
      try Query(translating: predicate)
    }
    #expect(error?.code == .unsupportedPredicate, sourceLocation: sourceLocation)
    #expect(error?.message.contains(name) == true, sourceLocation: sourceLocation)
  }

  @Test func `an unsupported expression throws unsupportedPredicate with its name`() {
    expectRefusal(#Predicate { $0.rank + 1 > 4 }, "Arithmetic")
    expectRefusal(#Predicate { $0.size.width > 4 }, "KeyPath<KeyPath<Variable<Card>, Size>, Int>")
    expectRefusal(#Predicate { $0.text == $0.note }, "Equal")
    expectRefusal(#Predicate { $0.note == "a" }, "not a stored property")
    expectRefusal(#Predicate { $0.nick! == "a" }, "ForcedUnwrap")
    expectRefusal(#Predicate { card in card.tags.contains { $0 == card.text } }, "Equal")
    expectRefusal(#Predicate { card in card.tags.contains { _ in card.isOpen } }, "KeyPath")
    expectRefusal(#Predicate { $0.rank == 1 || $0.rank / 2 == 3 }, "IntDivision")
  }

  @Test func `a model without field positions throws unsupportedPredicate`() {
    let error = #expect(throws: StoreError.self) {
      try Query(translating: #Predicate<Town> { $0.size > 3 })
    }
    #expect(error?.code == .unsupportedPredicate)
  }

  @Test func `constant expressions are computed once`() throws {
    struct Limits: Codable { var most = 3 }
    let limits = Limits()
    try store.write { tx in
      for id in 0..<6 { try tx.insert(Card(id)) }
    }
    let query = try Query(translating: #Predicate<Card> { $0.id < limits.most + 1 })
    #expect(try store.read { try $0.count(query.limit(3)) } == 3)
    #expect(try store.read { try $0.count(query) } == 4)
  }
}
