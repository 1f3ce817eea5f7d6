import TestSupport
import Testing

@testable import ObjectStoreCore

/// Tests observers with random writes, some of which suppress the notification of the observers.
@Suite(.timeLimit(.minutes(10))) struct SuppressedNotificationPropertyTests {
  private static let queries: [Query<Everything>] = [
    Everything.all,
    Everything.where { $0.small > 1 },
    Everything.where { $0.received < 4 }.order(by: \.small, .descending),
    Everything.all.order(by: \.received).limit(6),
    Everything.where { $0.small < 5 }.order(computing: { $0.received }),
  ]

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `each change leads from its base to the result, and the base has the suppressed writes`(
    seed: UInt64
  ) async throws {
    let folder = try TemporaryFolder()
    var random = SplitMix64(seed: seed)
    let store = try Store(at: folder.path, models: [Everything.self])
    let other = try Store(at: folder.path, models: [Everything.self])
    var observers: [Observer] = []
    for query in Self.queries { observers.append(try await Observer(query, store)) }
    let identifiers = Set(observers.map(\.identifier))
    // A key is never reused, because an object inserted again under its key is a different object.
    for nextID in Int64(0)..<300 {
      let before = try all(in: store)
      let isNotified = Bool.random(using: &random)
      let writer = isNotified && Bool.random(using: &random) ? other : store
      try write(to: writer, without: isNotified ? [] : identifiers, nextID, &random)
      let now = try all(in: store)
      let changed = Set(before.keys).union(now.keys).filter { before[$0] != now[$0] }
      for index in observers.indices {
        observers[index].note(changed, isNotified: isNotified)
        if Int.random(in: 0..<4, using: &random) == 0 { try await observers[index].check(store) }
      }
    }
    for observer in observers { #expect(observer.changeCount > 3) }
  }

  private func all(in store: Store) throws -> [Int64: Everything] {
    let objects = try store.read { try $0.fetch(Everything.all) }
    return Dictionary(uniqueKeysWithValues: objects.map { ($0.id, $0) })
  }

  private func write(
    to store: Store,
    without observers: Set<ObserverID>,
    _ nextID: Int64,
    _ random: inout SplitMix64
  ) throws {
    try store.write(durability: .deferred, withoutNotifying: observers) { tx in
      try Self.change(&tx, nextID, &random)
    }
  }

  /// One change of one object.
  private static func change(
    _ tx: inout StoreTransaction,
    _ nextID: Int64,
    _ random: inout SplitMix64
  ) throws {
    let id = max(0, nextID - Int64.random(in: 1..<40, using: &random))
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1:
      let small = UInt16.random(in: 0..<6, using: &random)
      let received = Int64.random(in: 0..<6, using: &random)
      try tx.insert(Everything(id: nextID, small: small, received: received))
    case 2: try tx.delete(Everything.self, key: id)
    case 3, 4: try tx.update(Everything.self, key: id) { $0.received = ($0.received + 1) % 6 }
    default: try tx.update(Everything.self, key: id) { $0.small = ($0.small + 1) % 6 }
    }
  }

  private struct Observer {
    let query: Query<Everything>
    let identifier: ObserverID
    var changes: ResultChanges<Everything>.Iterator
    var last: [Everything]
    /// The ids changed since the last element by commits with and without a notification.
    var notified: Set<Int64> = []
    var suppressed: Set<Int64> = []
    var changeCount = 0

    init(_ query: Query<Everything>, _ store: Store) async throws {
      self.query = query
      let sequence = store.observe(query)
      identifier = sequence.observer
      changes = sequence.makeAsyncIterator()
      last = Array(try #require(try await changes.next()).snapshot)
    }

    mutating func note(_ ids: Set<Int64>, isNotified: Bool) {
      if isNotified { notified.formUnion(ids) } else { suppressed.formUnion(ids) }
    }

    mutating func check(_ store: Store) async throws {
      let query = query
      let now = try await store.read { try $0.fetch(query) }
      let own = suppressed.subtracting(notified)
      let base = last.filter { !own.contains($0.id) } + now.filter { own.contains($0.id) }
      // Without a notified commit there is no element, even if suppressed commits change the
      // result.
      guard !notified.isEmpty, sorted(base) != sorted(now) else { return }
      let change = try #require(try await changes.next())
      changeCount += 1
      #expect(Array(change.snapshot) == now)
      #expect(sorted(Array(change.base)) == sorted(base))
      var replayed = Array(change.base)
      for offset in change.deletions.reversed() { replayed.remove(at: offset) }
      for offset in change.insertions { replayed.insert(change.snapshot[offset], at: offset) }
      for offset in change.modifications {
        #expect(!own.contains(change.snapshot[offset].id))
        replayed[offset] = change.snapshot[offset]
      }
      #expect(replayed == now)
      last = now
      notified = []
      suppressed = []
    }

    private func sorted(_ objects: [Everything]) -> [Everything] {
      objects.sorted { $0.id < $1.id }
    }
  }
}
