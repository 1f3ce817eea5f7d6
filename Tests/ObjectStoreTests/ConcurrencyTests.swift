import Foundation
import ObjectStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ConcurrencyTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func `concurrent readers see each commit completely or not at all`() async throws {
    let store = try Store(at: folder.path, models: [Everything.self])
    try await store.write { tx in for id in 0..<20 { try tx.insert(Everything(id: Int64(id))) } }
    let last: Int64 = 100
    try await withThrowingTaskGroup { group in
      group.addTask {
        for number in 1...last {
          try await store.write { tx in
            for id in 0..<20 {
              try tx.update(Everything.self, key: Int64(id)) { object in
                object.received = number
                object.text = "\(number)"
              }
            }
          }
        }
      }
      for _ in 0..<4 {
        group.addTask {
          var seen: Int64 = 0
          while seen < last {
            let objects = try await store.read { try $0.fetch(Everything.all) }
            let number = objects.first?.received ?? -1
            #expect(objects.count == 20)
            #expect(objects.allSatisfy { $0.received == number })
            #expect(number == 0 || objects.allSatisfy { $0.text == "\(number)" })
            #expect(number >= seen)
            seen = number
            _ = try store.commitNumber()
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `a read sees every commit that commitNumber already counted`() async throws {
    let store = try Store(at: folder.path, models: [Everything.self])
    try await store.write { try $0.insert(Everything(id: 1)) }
    try await withThrowingTaskGroup { group in
      group.addTask {
        for _ in 0..<100 {
          try await store.write { _ = try $0.update(Everything.self, key: 1) { $0.received += 1 } }
        }
        try await store.write { _ = try $0.delete(Everything.self, key: 1) }
      }
      group.addTask {
        var exists = true
        while exists {
          let count = try store.commitNumber()
          exists = try await store.read { tx in
            #expect(tx.commitNumber >= count)
            return try tx.find(Everything.self, key: 1) != nil
          }
          await Task.yield()
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `concurrent writers lose no update`() async throws {
    let store = try Store(at: folder.path, models: [Everything.self])
    try await store.write { try $0.insert(Everything(id: 1)) }
    try await withThrowingTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for _ in 0..<25 {
            if task.isMultiple(of: 2) {
              try await store.write {
                _ = try $0.update(Everything.self, key: 1) { $0.received += 1 }
              }
            } else {
              try increment(store)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.read { try $0.find(Everything.self, key: 1)?.received } == 200)
  }

  @Test func `processes that create the same store concurrently share it`() async throws {
    let path = folder.path + "/store"
    await withTaskGroup { group in
      for number in 0..<4 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, number = number as Int] in
            let store = try Store(at: path, models: [Everything.self, Item.self])
            for id in 0..<20 {
              try store.write { tx in
                try tx.insert(Everything(id: Int64(number * 100 + id)))
                try tx.upsert(Everything(id: -1, count: 1))
                _ = try tx.update(Everything.self, key: -1) { $0.received += 1 }
              }
            }
          }
        }
      }
    }
    let store = try Store(at: path, models: [Everything.self])
    #expect(try await store.read { try $0.count(Everything.all) } == 81)
  }

  @Test func `a store maintains and uses an index that another process added`() async throws {
    let store = try Store(at: folder.path, models: [OldNote.self])
    try await store.write { try $0.insert(OldNote(id: 1, text: "milk")) }
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let store = try Store(at: path, models: [IndexedNote.self])
      try store.write { _ = try $0.delete(IndexedNote.self, key: 7) }
    }
    try await store.write { try $0.insert(OldNote(id: 2, text: "eggs")) }
    let text = Column<OldNote, String>(position: 1)
    try await store.read { tx in
      let plan = try tx.explain(Query(text == "eggs"))
      let found = try tx.fetch(Query(text == "eggs")).map(\.id)
      let older = try tx.fetch(Query(text == "milk")).map(\.id)
      #expect(plan.description.hasPrefix("index (text)"))
      #expect(found == [2])
      #expect(older == [1])
    }
  }

  @Test func `SIGKILL inside a write leaves the last commit`() async throws {
    let store = try Store(at: folder.path, models: [Everything.self])
    try await store.write { try $0.insert(Everything(id: 1, text: "old")) }
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
      let store = try Store(at: path, models: [Everything.self])
      try store.write { tx in
        try tx.upsert(Everything(id: 1, text: "new"))
        try tx.insert(Everything(id: 2))
        kill(getpid(), SIGKILL)
      }
    }
    try await store.write { try $0.insert(Everything(id: 3)) }
    let objects = try await store.read { try $0.fetch(Everything.all) }
    #expect(objects == [Everything(id: 1, text: "old"), Everything(id: 3)])
  }
}

/// Calls the synchronous overload of `write`, which an asynchronous caller cannot select itself.
private func increment(_ store: Store) throws {
  try store.write { _ = try $0.update(Everything.self, key: 1) { $0.received += 1 } }
}
