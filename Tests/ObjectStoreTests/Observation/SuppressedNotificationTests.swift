import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

/// Tests writes that do not notify some observers.
@Suite(.timeLimit(.minutes(10))) struct SuppressedNotificationTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self])
    try store.write { tx in for id in Int64(1)...5 { try tx.insert(Everything(id: id)) } }
  }

  private func rename(_ id: Int64, to text: String, without observers: Set<ObserverID> = []) throws
  {
    try store.write(withoutNotifying: observers) { tx in
      try tx.update(Everything.self, key: id) { $0.text = text }
    }
  }

  private func ids(_ snapshot: ResultSnapshot<Everything>) -> [Int64] { snapshot.map(\.id) }

  // MARK: A single query

  @Test func `a suppressed change is part of the base of the next element`() async throws {
    let sequence = store.observe(Everything.all)
    var changes = sequence.makeAsyncIterator()
    _ = try await changes.next()
    try await store.write(withoutNotifying: [sequence.observer]) { tx in
      try tx.insert(Everything(id: 6))
      try tx.delete(Everything.self, key: 2)
      try tx.update(Everything.self, key: 1) { $0.text = "own" }
    }
    try rename(3, to: "other")
    let change = try #require(try await changes.next())
    #expect(ids(change.base) == [1, 3, 4, 5, 6] && change.base[0].text == "own")
    #expect(change.modifications == [1])
    #expect(change.insertions.isEmpty && change.deletions.isEmpty)
    #expect(change.snapshot[1].text == "other")
  }

  @Test func `a waiting observer receives no element for suppressed writes`() async throws {
    let sequence = store.observe(Everything.all)
    let (elements, continuation) = AsyncStream.makeStream(of: ResultChange<Everything>.self)
    let reader = Task {
      for try await change in sequence { continuation.yield(change) }
    }
    var iterator = elements.makeAsyncIterator()
    _ = await iterator.next()
    for number in 1...20 {
      try rename(1, to: "own \(number)", without: [sequence.observer])
      try rename(2, to: "other \(number)")
      let change = try #require(await iterator.next())
      // Independent of when the observer reads, it receives only the second write.
      #expect(change.modifications == [1])
      #expect(change.snapshot[0].text == "own \(number)")
      #expect(change.base[0].text == "own \(number)")
    }
    reader.cancel()
    _ = await reader.result
  }

  @Test func `a suppressed change of an object that others changed is delivered`() async throws {
    let sequence = store.observe(Everything.all)
    var changes = sequence.makeAsyncIterator()
    _ = try await changes.next()
    try rename(1, to: "other")
    try rename(1, to: "own", without: [sequence.observer])
    try rename(2, to: "own", without: [sequence.observer])
    let change = try #require(try await changes.next())
    #expect(change.modifications == [0] && change.snapshot[0].text == "own")
    #expect(change.base[0].text.isEmpty && change.base[1].text == "own")
  }

  @Test func `suppression applies to all iterators of the sequence and to no other observer`()
    async throws
  {
    let suppressed = store.observe(Everything.all)
    let other = store.observe(Everything.all)
    #expect(suppressed.observer != other.observer)
    var iterators = [suppressed, suppressed].map { $0.makeAsyncIterator() }
    var otherIterator = other.makeAsyncIterator()
    for index in iterators.indices { _ = try await iterators[index].next() }
    _ = try await otherIterator.next()
    try rename(1, to: "own", without: [suppressed.observer])
    #expect(try await otherIterator.next()?.modifications == [0])
    try rename(2, to: "other")
    for index in iterators.indices {
      #expect(try await iterators[index].next()?.modifications == [1])
    }
  }

  @Test func `suppression applies to a query that runs again`() async throws {
    let sequence = store.observe(Everything.all.order(by: \.text).limit(3))
    var changes = sequence.makeAsyncIterator()
    #expect(ids(try #require(try await changes.next()).snapshot) == [1, 2, 3])
    try rename(1, to: "z", without: [sequence.observer])
    try rename(5, to: "y")
    try await store.write { try $0.delete(Everything.self, key: 2) }
    let change = try #require(try await changes.next())
    #expect(ids(change.base) == [2, 3])
    #expect(ids(change.snapshot) == [3, 4, 5])
    #expect(change.deletions == [0] && change.insertions == [1, 2])
  }

  @Test func `suppression works across more commits than the feed keeps`()
    async throws
  {
    let other = try Store(at: folder.path, models: [Everything.self])
    let sequence = store.observe(Everything.all)
    var changes = sequence.makeAsyncIterator()
    _ = try await changes.next()
    for number in 1...100 { try rename(1, to: "own \(number)", without: [sequence.observer]) }
    try await other.write { try $0.update(Everything.self, key: 2) { $0.text = "other" } }
    let change = try #require(try await changes.next())
    #expect(change.modifications == [1] && change.base[0].text == "own 100")
  }

  @Test func `without a history, changes that cannot be attributed are delivered`() async throws {
    let store = try Store(
      at: folder.path,
      models: [Everything.self],
      options: StoreOptions(historyLimit: .off)
    )
    let sequence = store.observe(Everything.all)
    var changes = sequence.makeAsyncIterator()
    _ = try await changes.next()
    for number in 1...70 {
      try await store.write(withoutNotifying: [sequence.observer]) { tx in
        try tx.update(Everything.self, key: 1) { $0.text = "own \(number)" }
      }
    }
    try await store.write { try $0.update(Everything.self, key: 2) { $0.text = "other" } }
    let change = try #require(try await changes.next())
    #expect(change.modifications == [0, 1] && change.base[0].text.isEmpty)
  }

  // MARK: Object observations and commits

  @Test func `suppression applies to object observations`() async throws {
    let sequence = store.observe(Everything.self, key: 1)
    var elements = sequence.makeAsyncIterator()
    _ = try await elements.next()
    try rename(1, to: "own", without: [sequence.observer])
    try rename(2, to: "another")
    try await store.write { try $0.update(Everything.self, key: 1) { $0.small = 9 } }
    let element = try #require(try await elements.next())
    #expect(element.object?.text == "own" && element.object?.small == 9)
    #expect(element.changedFields.contains(\.small) && !element.changedFields.contains(\.text))
    try await store.write(withoutNotifying: [sequence.observer]) { tx in
      try tx.delete(Everything.self, key: 1)
    }
    try await store.write { try $0.insert(Everything(id: 1)) }
    #expect(try await elements.next()?.object == Everything(id: 1))
  }

  @Test func `suppression applies to the commits sequence`() async throws {
    let sequence = store.commits
    var commits = sequence.makeAsyncIterator()
    let first = try #require(try await commits.next())
    try rename(1, to: "own", without: [sequence.observer])
    try rename(1, to: "other")
    #expect(try await commits.next() == first + 2)
    for number in 1...3 { try rename(1, to: "own \(number)", without: [sequence.observer]) }
    try rename(1, to: "other again")
    #expect(try await commits.next() == first + 6)
  }

  // MARK: Commits

  @Test func `queued writes share a commit only if they suppress the same observers`()
    async throws
  {
    let sequence = store.observe(Everything.all)
    var changes = sequence.makeAsyncIterator()
    _ = try await changes.next()
    let store = store
    let blocker = WriteBlocker()
    try await withThrowingTaskGroup { group in
      try await blocker.hold(store, in: &group)
      for number in 0..<60 {
        let observers: Set<ObserverID> = number.isMultiple(of: 2) ? [sequence.observer] : []
        group.addTask {
          try await store.write(durability: .deferred, withoutNotifying: observers) { tx in
            try tx.insert(Everything(id: Int64(100 + number)))
          }
        }
      }
      try await blocker.release(store, waiting: 60)
      try await group.waitForAll()
    }
    let change = try #require(try await changes.next())
    #expect(change.snapshot.count == 65)
    #expect(change.insertions.count == 30)
    #expect(change.insertions.allSatisfy { change.snapshot[$0].id % 2 == 1 })
  }

  @Test func `a failed write is not announced, and a failed commit is withdrawn`()
    async throws
  {
    struct Failure: Error {}
    let sequence = store.observe(Everything.all)
    #expect(throws: Failure.self) {
      try store.write(withoutNotifying: [sequence.observer]) { tx in
        try tx.insert(Everything(id: 9))
        throw Failure()
      }
    }
    let registration = store.feed.register(sequence.observer)
    #expect(registration.takeSuppressed(through: .max) == [])
    let prepared = store.feed.prepare(700, suppressedFor: [sequence.observer])
    #expect(registration.takeSuppressed(through: 699) == [])
    #expect(registration.takeSuppressed(through: 700) == nil)
    store.feed.cancel(prepared)
    #expect(registration.takeSuppressed(through: 700) == [])
    let again = store.feed.prepare(700, suppressedFor: [sequence.observer])
    store.feed.publish(700, [], again)
    #expect(registration.takeSuppressed(through: 700) == [700])
    #expect(registration.takeSuppressed(through: 700) == [])
  }
}
