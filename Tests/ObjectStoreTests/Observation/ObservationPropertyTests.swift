import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

/// Compares observers of many kinds of queries with the results of those queries after random
/// writes.
@Suite(.timeLimit(.minutes(10))) struct ObservationPropertyTests {
  private struct Failure: Error {}

  /// The store instance that writes, which determines what an observer knows about a commit.
  enum Source: CaseIterable {
    /// The observing instance, which passes the changes on.
    case own
    /// Another instance with a history.
    case other
    /// Another instance with a short history, which expires for a slow reader.
    case short
    /// Another instance without a history, so that the query runs again.
    case none
    /// A random instance for each write.
    case mixed
  }

  /// A query, and the observed fields, or `nil` for all fields.
  private struct Subject {
    var name: String
    var query: Query<Everything>
    var fields: [PartialKeyPath<Everything.Columns>]?
  }

  private static var subjects: [Subject] {
    [
      Subject(name: "all", query: Everything.all),
      Subject(name: "some", query: Everything.where { $0.received < 3 }),
      Subject(
        name: "fields",
        query: Everything.where { $0.small > 1 },
        fields: [\.text, \.received]
      ),
      Subject(name: "limit", query: Everything.where { $0.small > 0 }.limit(15).offset(2)),
      Subject(name: "order", query: Everything.all.order(computing: { $0.received })),
      Subject(name: "column", query: Everything.where { $0.small > 0 }.order(by: \.received)),
      Subject(
        name: "columns",
        query: Everything.all.order(by: \.received, .descending).order(by: \.text)
      ),
      Subject(
        name: "nil first",
        query: Everything.all.order(by: \.age).order(by: \.id, .descending)
      ),
      Subject(
        name: "order, limit",
        query: Everything.where { $0.small < 4 }.order(by: \.text, .descending).limit(7)
      ),
    ]
  }

  @Test(arguments: Source.allCases, 0..<3)
  func `applying each change to the previous result yields the new result`(
    source: Source,
    seed: UInt64
  ) async throws {
    try await run(source, seed, TemporaryFolder())
  }

  @Test(arguments: Source.allCases, 3..<6)
  func `applying each change yields the new result of a model that is stored by key`(
    source: Source,
    seed: UInt64
  ) async throws {
    let folder = try TemporaryFolder()
    let creator = try Store(at: folder.path, models: [Keyed<Everything>.self])
    #expect(try creator.layouts == ["Everything": .byKey])
    try await run(source, seed, folder)
  }

  private func run(_ source: Source, _ seed: UInt64, _ folder: TemporaryFolder) async throws {
    var random = SplitMix64(seed: seed)
    let models: [any Model.Type] = [Everything.self, Item.self]
    func open(_ limit: HistoryLimit) throws -> Store {
      try Store(at: folder.path, models: models, options: StoreOptions(historyLimit: limit))
    }
    let store = try open(.standard)
    let others = [
      try open(.standard), try open(HistoryLimit(commits: 3, byteCount: 1 << 20)), try open(.off),
    ]
    var observers: [Observer] = []
    for subject in Self.subjects {
      observers.append(try await Observer(subject, store))
    }
    for _ in 0..<80 {
      let writer =
        switch source {
        case .own: store
        case .other: others[0]
        case .short: others[1]
        case .none: others[2]
        case .mixed: (others + [store]).randomElement(using: &random) ?? store
        }
      try write(to: writer, &random)
      for index in observers.indices where Int.random(in: 0..<3, using: &random) > 0 {
        try await observers[index].check(store)
      }
    }
    for index in observers.indices { try await observers[index].check(store) }
    let counts = observers.map(\.changeCount)
    #expect(counts.allSatisfy { $0 > 10 }, "\(counts)")
  }

  private func write(to store: Store, _ random: inout SplitMix64) throws {
    let writes = Int.random(in: 0..<20, using: &random) == 0 ? 200 : 3
    var used = random
    do {
      try store.write(durability: .deferred) { tx in
        for _ in 0..<Int.random(in: 1...writes, using: &used) {
          switch Int.random(in: 0..<12, using: &used) {
          case 0:
            let isThrowing = Bool.random(using: &used)
            do {
              try tx.nested { tx in
                try Self.change(&tx, &used)
                try Self.change(&tx, &used)
                if isThrowing { throw Failure() }
              }
            } catch is Failure {}
          case 1 where Int.random(in: 0..<10, using: &used) == 0: throw Failure()
          default: try Self.change(&tx, &used)
          }
        }
      }
    } catch is Failure {}
    random = used
  }

  private static func change(_ tx: inout StoreTransaction, _ random: inout SplitMix64) throws {
    let id = Int64.random(in: 0..<60, using: &random)
    switch Int.random(in: 0..<7, using: &random) {
    case 0, 1:
      let object = Everything(
        id: id,
        small: .random(in: 0..<6, using: &random),
        text: "\(Int.random(in: 0..<20, using: &random))",
        received: .random(in: 0..<6, using: &random)
      )
      try tx.upsert(object)
    case 2: try tx.delete(Everything.self, key: id)
    case 3: try tx.update(Everything.self, key: id) { $0.received = (($0.received + 1) % 6) }
    case 4: try tx.update(Everything.self, key: id) { $0.small = ($0.small + 1) % 6 }
    case 5: try tx.update(Everything.self, key: id) { $0.age = $0.age == nil ? Int($0.small) : nil }
    default: try tx.update(Everything.self, key: id) { $0.text += "." }
    }
  }

  private struct Observer {
    let subject: Subject
    var changes: ResultChanges<Everything>.Iterator
    var last: [Everything]
    var changeCount = 0

    init(_ subject: Subject, _ store: Store) async throws {
      self.subject = subject
      let sequence =
        subject.fields.map { store.observe(subject.query, fields: $0) }
        ?? store.observe(subject.query)
      changes = sequence.makeAsyncIterator()
      last = Array(try #require(try await changes.next()).snapshot)
    }

    /// Returns whether the observer must deliver a change.
    private func expectsChange(_ now: [Everything]) -> Bool {
      guard subject.fields != nil else { return now != last }
      // The observed fields, and the fields that determine the order.
      return !now.elementsEqual(last) {
        $0.id == $1.id && $0.text == $1.text && $0.received == $1.received
      }
    }

    mutating func check(_ store: Store) async throws {
      let query = subject.query
      let now = try await store.read { try $0.fetch(query) }
      guard expectsChange(now) else { return }
      let change = try #require(try await changes.next())
      changeCount += 1
      let name = Comment(rawValue: subject.name)
      #expect(Array(change.snapshot) == now, name)
      #expect(change.snapshot.indices.map { change.snapshot[$0] } == now, name)
      var replayed = last
      for offset in change.deletions.reversed() { replayed.remove(at: offset) }
      for offset in change.insertions { replayed.insert(change.snapshot[offset], at: offset) }
      #expect(Set(change.modifications).isDisjoint(with: change.insertions), name)
      if subject.fields != nil {
        // Changes of other fields appear in the snapshot, but not in the modifications.
        #expect(replayed.map(\.id) == now.map(\.id), name)
        for offset in replayed.indices where !change.modifications.contains(offset) {
          #expect(replayed[offset].text == now[offset].text, name)
          #expect(replayed[offset].received == now[offset].received, name)
        }
      } else {
        for offset in change.modifications { replayed[offset] = change.snapshot[offset] }
        #expect(replayed == now, name)
      }
      last = now
    }
  }
}
