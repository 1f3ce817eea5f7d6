import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore

// Serialized, because waiting for a child process blocks a thread, and some of these child
// processes wait for their test.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ObservationProcessTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self])
  }

  // The observer runs in the child process, because other tests occupy the threads of this one.
  @Test func `commits of another process are delivered without polling`() async throws {
    let path = folder.path
    async let child: Void = {
      await #expect(processExitsWith: .success) { [path = path as String] in
        ChangeWatcher.pollInterval.withLock { $0 = 36_000 }
        let store = try Store(at: path, models: [Everything.self])
        var changes = store.observe(Everything.all).makeAsyncIterator()
        _ = try await changes.next()
        makeFile(path + "/seen0")
        for id in 1...20 {
          let change = try #require(try await changes.next())
          #expect(change.insertions == [id - 1])
          makeFile(path + "/seen\(id)")
        }
      }
    }()
    for id in 1...20 {
      await waitUntilExists(path + "/seen\(id - 1)")
      try write(Everything(id: Int64(id)))
    }
    await child
  }

  private func write(_ object: Everything) throws { try store.write { try $0.insert(object) } }

  @Test func `commits of another store instance in the same process are delivered`() async throws {
    let other = try Store(at: folder.path, models: [Everything.self])
    var changes = store.observe(Everything.all).makeAsyncIterator()
    _ = try await changes.next()
    for id in Int64(1)...5 {
      try await other.write { try $0.insert(Everything(id: id)) }
      #expect(try await changes.next()?.insertions == [Int(id) - 1])
    }
  }

  @Test func `a commit whose writer was killed before notifying is delivered`() async throws {
    var changes = store.observe(Everything.all).makeAsyncIterator()
    _ = try await changes.next()
    async let child: Void = {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
        let store = try Store(at: path, models: [Everything.self])
        var transaction = try store.beginWrite()
        try transaction.insert(Everything(id: 1))
        _ = try transaction.recordHistory(limit: .standard, isObserved: false)
        try transaction.commit(.full)
        kill(getpid(), SIGKILL)
      }
    }()
    #expect(try await changes.next()?.insertions == [0])
    await child
  }

  @Test func `after a writer is killed inside a write, the next commit is delivered`()
    async throws
  {
    var changes = store.observe(Everything.all).makeAsyncIterator()
    _ = try await changes.next()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
      let store = try Store(at: path, models: [Everything.self])
      try store.write { tx in
        try tx.insert(Everything(id: 1))
        kill(getpid(), SIGKILL)
      }
    }
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let store = try Store(at: path, models: [Everything.self])
      try store.write { try $0.insert(Everything(id: 2)) }
    }
    let change = try #require(try await changes.next())
    #expect(change.snapshot.map(\.id) == [2] && change.insertions == [0])
  }

  @Test func `a read-only process observes the commits of another process`() async throws {
    try await store.write { try $0.insert(Everything(id: 1)) }
    let path = folder.path
    async let child: Void = {
      await #expect(processExitsWith: .success) { [path = path as String] in
        let options = StoreOptions(access: .readOnly)
        let store = try Store(at: path, models: [Everything.self], options: options)
        var changes = store.observe(Everything.all).makeAsyncIterator()
        #expect(try await changes.next()?.snapshot.count == 1)
        makeFile(path + "/observing")
        let change = try await changes.next()
        #expect(change?.deletions == [0] && change?.insertions == [0])
      }
    }()
    await waitUntilExists(path + "/observing")
    try await store.write { tx in
      try tx.delete(Everything.self, key: 1)
      try tx.insert(Everything(id: 2))
    }
    await child
  }

  @Test func `an observer sees the final state of several writing processes`() async throws {
    let path = folder.path
    async let children: Void = withTaskGroup { group in
      for number in 0..<3 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, number = number as Int] in
            let store = try Store(at: path, models: [Everything.self])
            for id in 0..<40 {
              try store.write(durability: .deferred) { tx in
                try tx.insert(Everything(id: Int64(number * 100 + id)))
                if id > 0 { _ = try tx.delete(Everything.self, key: Int64(number * 100 + id - 1)) }
              }
            }
          }
        }
      }
    }
    for try await change in store.observe(Everything.all)
    where change.snapshot.map(\.id).sorted() == [39, 139, 239] {
      break
    }
    await children
  }
}
