import Foundation
import TestSupport
import Testing

@testable import ObjectStore

/// Writes of which some observers do not hear.
@Suite(.timeLimit(.minutes(2))) struct UnheardWriteTests {
  let folder: TemporaryFolder
  let store: ObjectStore

  init() throws {
    folder = try TemporaryFolder()
    store = try ObjectStore(at: folder.path, models: [Everything.self])
    try store.write { tx in for id in Int64(1)...5 { try tx.insert(Everything(id: id)) } }
  }

  private func rename(_ id: Int64, to text: String, without observers: Set<ObserverID> = []) throws
  {
    try store.write(withoutNotifying: observers) { tx in
      try tx.update(Everything.self, id) { $0.text = text }
    }
  }

  private func ids(_ snapshot: ResultSnapshot<Everything>) -> [Int64] { snapshot.map(\.id) }

  // MARK: One query

  @Test func `what it does not hear of is in the base of what it hears of next`() async throws {
    let sequence = store.observe(Everything.all)
    var changes = sequence.makeAsyncIterator()
    _ = try await changes.next()
    try await store.write(withoutNotifying: [sequence.observer]) { tx in
      try tx.insert(Everything(id: 6))
      try tx.delete(Everything.self, 2)
      try tx.update(Everything.self, 1) { $0.text = "own" }
    }
    try rename(3, to: "heard")
    let change = try #require(try await changes.next())
    #expect(ids(change.base) == [1, 3, 4, 5, 6] && change.base[0].text == "own")
    #expect(change.modifications == [1])
    #expect(change.insertions.isEmpty && change.deletions.isEmpty)
    #expect(change.snapshot[1].text == "heard")
  }

  @Test func `one that waits is not woken for good by what it does not hear of`() async throws {
    let sequence = store.observe(Everything.all)
    let (looks, continuation) = AsyncStream.makeStream(of: ResultChange<Everything>.self)
    let reader = Task {
      for try await change in sequence { continuation.yield(change) }
    }
    var iterator = looks.makeAsyncIterator()
    _ = await iterator.next()
    for number in 1...20 {
      try rename(1, to: "own \(number)", without: [sequence.observer])
      try rename(2, to: "heard \(number)")
      let change = try #require(await iterator.next())
      // However the reader's looks fell between the writes, it is told of the second alone.
      #expect(change.modifications == [1])
      #expect(change.snapshot[0].text == "own \(number)")
      #expect(change.base[0].text == "own \(number)")
    }
    reader.cancel()
    _ = await reader.result
  }

  @Test func `what others have changed too is told`() async throws {
    let sequence = store.observe(Everything.all)
    var changes = sequence.makeAsyncIterator()
    _ = try await changes.next()
    try rename(1, to: "heard")
    try rename(1, to: "own", without: [sequence.observer])
    try rename(2, to: "own", without: [sequence.observer])
    let change = try #require(try await changes.next())
    #expect(change.modifications == [0] && change.snapshot[0].text == "own")
    #expect(change.base[0].text.isEmpty && change.base[1].text == "own")
  }

  @Test func `other observers hear of it, each copy and iterator of the sequence does not`()
    async throws
  {
    let named = store.observe(Everything.all)
    let other = store.observe(Everything.all)
    #expect(named.observer != other.observer)
    var iterators = [named, named].map { $0.makeAsyncIterator() }
    var hearing = other.makeAsyncIterator()
    for index in iterators.indices { _ = try await iterators[index].next() }
    _ = try await hearing.next()
    try rename(1, to: "own", without: [named.observer])
    #expect(try await hearing.next()?.modifications == [0])
    try rename(2, to: "heard")
    for index in iterators.indices {
      #expect(try await iterators[index].next()?.modifications == [1])
    }
  }

  @Test func `a query that is run again keeps to it`() async throws {
    let sequence = store.observe(Everything.all.order(by: \.text).limit(3))
    var changes = sequence.makeAsyncIterator()
    #expect(ids(try #require(try await changes.next()).snapshot) == [1, 2, 3])
    try rename(1, to: "z", without: [sequence.observer])
    try rename(5, to: "y")
    try await store.write { try $0.delete(Everything.self, 2) }
    let change = try #require(try await changes.next())
    #expect(ids(change.base) == [2, 3])
    #expect(ids(change.snapshot) == [3, 4, 5])
    #expect(change.deletions == [0] && change.insertions == [1, 2])
  }

  @Test func `it is known after more commits than are remembered, and beside those of others`()
    async throws
  {
    let other = try ObjectStore(at: folder.path, models: [Everything.self])
    let sequence = store.observe(Everything.all)
    var changes = sequence.makeAsyncIterator()
    _ = try await changes.next()
    for number in 1...100 { try rename(1, to: "own \(number)", without: [sequence.observer]) }
    try await other.write { try $0.update(Everything.self, 2) { $0.text = "heard" } }
    let change = try #require(try await changes.next())
    #expect(change.modifications == [1] && change.base[0].text == "own 100")
  }

  @Test func `without a history, what cannot be told apart is told`() async throws {
    let store = try ObjectStore(
      at: folder.path,
      models: [Everything.self],
      options: StoreOptions(historyLimit: .off)
    )
    let sequence = store.observe(Everything.all)
    var changes = sequence.makeAsyncIterator()
    _ = try await changes.next()
    for number in 1...70 {
      try await store.write(withoutNotifying: [sequence.observer]) { tx in
        try tx.update(Everything.self, 1) { $0.text = "own \(number)" }
      }
    }
    try await store.write { try $0.update(Everything.self, 2) { $0.text = "heard" } }
    let change = try #require(try await changes.next())
    #expect(change.modifications == [0, 1] && change.base[0].text.isEmpty)
  }

  // MARK: One object, and commits

  @Test func `an observed object keeps to it`() async throws {
    let sequence = store.observe(Everything.self, 1)
    var looks = sequence.makeAsyncIterator()
    _ = try await looks.next()
    try rename(1, to: "own", without: [sequence.observer])
    try rename(2, to: "another")
    try await store.write { try $0.update(Everything.self, 1) { $0.small = 9 } }
    let look = try #require(try await looks.next())
    #expect(look.object?.text == "own" && look.object?.small == 9)
    #expect(look.changedFields.contains(\.small) && !look.changedFields.contains(\.text))
    try await store.write(withoutNotifying: [sequence.observer]) { tx in
      try tx.delete(Everything.self, 1)
    }
    try await store.write { try $0.insert(Everything(id: 1)) }
    #expect(try await looks.next()?.object == Everything(id: 1))
  }

  @Test func `commits keep to it`() async throws {
    let sequence = store.commits
    var commits = sequence.makeAsyncIterator()
    let first = try #require(try await commits.next())
    try rename(1, to: "own", without: [sequence.observer])
    try rename(1, to: "heard")
    #expect(try await commits.next() == first + 2)
    for number in 1...3 { try rename(1, to: "own \(number)", without: [sequence.observer]) }
    try rename(1, to: "heard again")
    #expect(try await commits.next() == first + 6)
  }

  // MARK: Commits

  @Test func `writes that wait share a commit only with those of which the same do not hear`()
    async throws
  {
    let sequence = store.observe(Everything.all)
    var changes = sequence.makeAsyncIterator()
    _ = try await changes.next()
    let store = store
    let plug = Plug()
    try await withThrowingTaskGroup { group in
      await plug.hold(store, in: &group)
      for number in 0..<60 {
        let observers: Set<ObserverID> = number.isMultiple(of: 2) ? [sequence.observer] : []
        group.addTask {
          try await store.write(durability: .deferred, withoutNotifying: observers) { tx in
            try tx.insert(Everything(id: Int64(100 + number)))
          }
        }
      }
      await plug.release(store, waiting: 60)
      try await group.waitForAll()
    }
    let change = try #require(try await changes.next())
    #expect(change.snapshot.count == 65)
    #expect(change.insertions.count == 30)
    #expect(change.insertions.allSatisfy { change.snapshot[$0].id % 2 == 1 })
  }

  @Test func `a write that fails is not announced, and a commit that fails is taken back`()
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
