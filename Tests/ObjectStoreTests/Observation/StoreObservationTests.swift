import Foundation
import TestSupport
import Testing

@testable import LMDB
@testable import ObjectStoreCore

@Suite(.timeLimit(.minutes(10))) struct StoreObservationTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self, Item.self])
  }

  @Test func `the first element is the current result`() async throws {
    try await store.write { tx in for id in 1...3 { try tx.insert(Everything(id: Int64(id))) } }
    var changes = store.observe(Everything.where { $0.id != 2 }).makeAsyncIterator()
    let first = try #require(try await changes.next())
    #expect(first.isInitial && first.isEmpty)
    #expect(first.snapshot.map(\.id) == [1, 3])
    #expect(first.snapshot[1].id == 3 && first.snapshot.count == 2)
    #expect(try first.token == store.historyToken())
  }

  @Test func `an element lists insertions, deletions and modifications`() async throws {
    try await store.write { tx in for id in 1...5 { try tx.insert(Everything(id: Int64(id))) } }
    var changes = store.observe(Everything.where { $0.received < 10 }).makeAsyncIterator()
    _ = try await changes.next()
    try await store.write { tx in
      try tx.update(Everything.self, key: 2) { $0.received = 99 }
      try tx.update(Everything.self, key: 4) { $0.received = 4 }
      try tx.delete(Everything.self, key: 5)
      try tx.insert(Everything(id: 6))
      try tx.insert(Everything(id: 7, received: 99))
    }
    let change = try #require(try await changes.next())
    #expect(change.deletions == [1, 4])
    #expect(change.insertions == [3])
    #expect(change.modifications == [2])
    #expect(change.snapshot.map(\.id) == [1, 3, 4, 6])
    #expect(!change.isInitial)
  }

  @Test func `commits between two reads are delivered as one element`() async throws {
    var changes = store.observe(Everything.all).makeAsyncIterator()
    _ = try await changes.next()
    for id in Int64(1)...20 { try await store.write { try $0.insert(Everything(id: id)) } }
    try await store.write { _ = try $0.delete(Everything.self, key: 20) }
    let change = try #require(try await changes.next())
    #expect(change.insertions == Array(0..<19) && change.deletions == [])
  }

  @Test func `a commit that does not affect the result is not delivered`() async throws {
    try await store.write { try $0.insert(Everything(id: 1)) }
    var changes = store.observe(Everything.where { $0.id < 10 }).makeAsyncIterator()
    _ = try await changes.next()
    try await store.write { try $0.insert(Everything(id: 10)) }
    try await store.write { _ = try $0.update(Everything.self, key: 10) { $0.received = 1 } }
    try await store.write { try $0.insert(Everything(id: 2)) }
    #expect(try await changes.next()?.insertions == [1])
  }

  @Test func `a change of an unobserved field appears in the snapshot without an element`()
    async throws
  {
    try await store.write { tx in for id in 1...3 { try tx.insert(Everything(id: Int64(id))) } }
    let fields: [PartialKeyPath<Everything.Columns>] = [\.text, \.hotNote]
    var changes = store.observe(Everything.all, fields: fields).makeAsyncIterator()
    _ = try await changes.next()
    try await store.write { _ = try $0.update(Everything.self, key: 1) { $0.received = 7 } }
    try await store.write { _ = try $0.update(Everything.self, key: 2) { $0.hotNote = "x" } }
    try await store.write { _ = try $0.update(Everything.self, key: 3) { $0.count = 7 } }
    let change = try #require(try await changes.next())
    #expect(change.modifications == [1])
    #expect(change.snapshot.map(\.received) == [7, 0, 0])
    #expect(change.snapshot.map(\.count) == [0, 0, 7])
  }

  @Test func `a waiting observer is resumed by a commit`() async throws {
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          var last = 0
          for try await change in store.observe(Everything.all) {
            #expect(change.snapshot.count >= last)
            last = change.snapshot.count
            if last == 50 { break }
          }
          #expect(last == 50)
        }
      }
      group.addTask {
        for id in Int64(0)..<50 {
          try await store.write(durability: .deferred) { try $0.insert(Everything(id: id)) }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `an observation ends when its task is cancelled at any time`() async throws {
    for yields in 0..<20 {
      let task = Task {
        var count = 0
        for try await _ in store.observe(Everything.all) { count += 1 }
        return count
      }
      for _ in 0..<yields { await Task.yield() }
      task.cancel()
      #expect(try await task.value <= 1)
    }
  }

  @Test func `an observation ends when endObservations is called`() async throws {
    let task = Task {
      for try await _ in store.observe(Everything.all) {}
    }
    for _ in 0..<10 { await Task.yield() }
    store.stopObserving()
    try await task.value
    var changes = store.observe(Everything.self, key: 1).makeAsyncIterator()
    #expect(try await changes.next() == nil)
  }

  @Test func `an observation throws when reading fails, and then ends`() async throws {
    var changes = store.observe(OldNote.where { _ in .all }).makeAsyncIterator()
    let error = await #expect(throws: StoreError.self) { try await changes.next() }
    #expect(error?.code == .unknownModel)
    #expect(try await changes.next() == nil)
  }

  @Test func `an observation holds no snapshot between elements`() async throws {
    var changes = store.observe(Everything.all).makeAsyncIterator()
    _ = try await changes.next()
    for round in 0..<200 {
      try await store.write(durability: .deferred) { tx in
        _ = try tx.upsert(Everything(id: 1, text: String(repeating: "\(round)", count: 20_000)))
      }
    }
    // Free pages are reused, which an open snapshot would prevent.
    #expect(try store.environment.statistics().usedSize < 2 << 20)
    #expect(try await changes.next()?.insertions == [0])
  }

  @Test func `a commit beyond the change limit is delivered exactly`() async throws {
    let count = Int64(ChangeLog.limit) + 1
    try await store.write { try $0.insert(Everything(id: -2)) }
    var changes = store.observe(Everything.where { $0.id < 10 }).makeAsyncIterator()
    var one = store.observe(Everything.self, key: 3).makeAsyncIterator()
    _ = try await changes.next()
    _ = try await one.next()
    try await store.write { tx in for id in 0..<count { try tx.insert(Everything(id: id)) } }
    let change = try #require(try await changes.next())
    #expect(change.insertions == Array(1...10) && change.modifications == [])
    #expect(try await one.next()?.object?.id == 3)
  }

  @Test func `an object observation delivers insertion, changes and deletion`() async throws {
    var changes = store.observe(Everything.self, key: 5).makeAsyncIterator()
    let first = try #require(try await changes.next())
    #expect(first.object == nil)
    try await store.write { try $0.insert(Everything(id: 4)) }
    try await store.write { try $0.insert(Everything(id: 5, text: "a")) }
    let inserted = try #require(try await changes.next())
    #expect(inserted.object?.text == "a" && inserted.changedFields == .all)
    try await store.write { _ = try $0.update(Everything.self, key: 4) { $0.text = "b" } }
    try await store.write { _ = try $0.update(Everything.self, key: 5) { $0.received = 5 } }
    try await store.write { _ = try $0.update(Everything.self, key: 5) { $0.note = "n" } }
    let changed = try #require(try await changes.next())
    #expect(changed.object?.received == 5 && changed.object?.note == "n")
    #expect(changed.changedFields.names == ["received", "note"])
    try await store.write { tx in
      try tx.delete(Everything.self, key: 5)
      try tx.insert(Everything(id: 5, text: "another"))
    }
    #expect(try await changes.next()?.object?.text == "another")
    try await store.write { _ = try $0.delete(Everything.self, key: 5) }
    let deleted = try #require(try await changes.next())
    #expect(deleted.object == nil)
  }

  @Test func `an object observation works without a history`() async throws {
    let options = StoreOptions(historyLimit: .off)
    let other = try Store(at: folder.path, models: [Everything.self], options: options)
    var changes = store.observe(Everything.self, key: 5).makeAsyncIterator()
    _ = try await changes.next()
    try await other.write { try $0.insert(Everything(id: 5)) }
    #expect(try await changes.next()?.object?.id == 5)
    try await other.write { try $0.insert(Everything(id: 6)) }
    try await other.write { _ = try $0.update(Everything.self, key: 5) { $0.flag = true } }
    #expect(try await changes.next()?.changedFields.names == ["flag"])
  }

  @MainActor @Test func `a live query follows the result and ends when it is released`()
    async throws
  {
    try await store.write { try $0.insert(Everything(id: 1)) }
    var query: LiveQuery<Everything>? = LiveQuery(Everything.all, in: store)
    #expect(query?.isLoaded == false)
    await until { query?.isLoaded == true }
    #expect(query?.objects.map(\.id) == [1])
    try await store.write { try $0.insert(Everything(id: 2)) }
    await until { query?.objects.count == 2 }
    #expect(query?.error == nil)
    weak let released = query
    query = nil
    #expect(released == nil)
    await until { !store.feed.isObserved }
  }

  @MainActor @Test func `a live query has the error that ended it`() async throws {
    let query = LiveQuery(Query<OldNote>(), in: store)
    await until { query.error != nil }
    #expect(query.error?.code == .unknownModel && !query.isLoaded)
  }

  /// Returns when the condition holds, and yields between checks.
  @MainActor private func until(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
  }

  @Test func `the commit feed keeps no commits without observers`() async throws {
    do {
      var changes = store.observe(Everything.all).makeAsyncIterator()
      _ = try await changes.next()
      #expect(store.feed.isObserved)
      try await store.write { try $0.insert(Everything(id: 1)) }
      let number = try store.commitNumber()
      #expect(store.feed.commits(after: number - 1, through: number)?.count == 1)
    }
    #expect(!store.feed.isObserved)
    let number = try store.commitNumber()
    #expect(store.feed.commits(after: number - 1, through: number) == nil)
  }
}
