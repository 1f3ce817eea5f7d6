import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite(.timeLimit(.minutes(10))) struct GroupCommitTests {
  private struct Failure: Error {}

  private actor Errors {
    private(set) var byID: [Int64: StoreError.Code] = [:]

    func add(_ code: StoreError.Code, of id: Int64) {
      byID[id] = code
    }
  }

  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self])
  }

  private func keys() throws -> Set<Int64> {
    try store.read { Set(try $0.fetch(Everything.all).map(\.id)) }
  }

  @Test func `queued writes share one commit, and a write that throws is rolled back alone`()
    async throws
  {
    let before = try store.commitNumber()
    let blocker = WriteBlocker()
    try await withThrowingTaskGroup { group in
      try await blocker.hold(store, in: &group)
      for id in Int64(0)..<100 {
        group.addTask {
          do {
            let value = try await store.write { tx in
              try tx.insert(Everything(id: id))
              try tx.upsert(Everything(id: 1_000, text: "\(id)"))
              if id.isMultiple(of: 7) { throw Failure() }
              return id
            }
            #expect(value == id && !id.isMultiple(of: 7))
          } catch is Failure {
            #expect(id.isMultiple(of: 7))
          }
        }
      }
      try await blocker.release(store, waiting: 100)
      try await group.waitForAll()
    }
    #expect(try store.commitNumber() == before + 1)
    #expect(try keys() == Set((0..<100).filter { !$0.isMultiple(of: 7) } + [1_000]))
  }

  @Test func `a batch has a maximum size, and the remaining writes share the next commit`()
    async throws
  {
    let before = try store.commitNumber()
    let count = WriteQueue.maximumBatchSize + 10
    let blocker = WriteBlocker()
    try await withThrowingTaskGroup { group in
      try await blocker.hold(store, in: &group)
      for id in 0..<count {
        group.addTask { try await store.write { try $0.insert(Everything(id: Int64(id))) } }
      }
      try await blocker.release(store, waiting: count)
      try await group.waitForAll()
    }
    #expect(try store.commitNumber() == before + 2)
    #expect(try keys().count == count)
  }

  @Test func `a write that is cancelled while queued does not run`() async throws {
    let blocker = WriteBlocker()
    try await withThrowingTaskGroup { group in
      try await blocker.hold(store, in: &group)
      let cancelled = Task { try await store.write { try $0.insert(Everything(id: 1)) } }
      group.addTask { try await store.write { try $0.insert(Everything(id: 2)) } }
      while store.writes.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
      cancelled.cancel()
      // The cancelled task ends although the blocking write is still running.
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      try await blocker.release(store, waiting: 1)
      try await group.waitForAll()
    }
    #expect(try keys() == [2])
  }

  @Test func `a write in a cancelled task does not run`() async throws {
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await store.write { try $0.insert(Everything(id: 1)) }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try keys() == [])
  }

  @Test func `a write that exceeds the map fails alone, and the others are committed`() async throws
  {
    let store = try Store(
      at: folder.path + "/small",
      models: [Everything.self],
      options: StoreOptions(mapSize: 1 << 20)
    )
    let blocker = WriteBlocker()
    let errors = Errors()
    try await withThrowingTaskGroup { group in
      try await blocker.hold(store, in: &group)
      for id in Int64(0)..<6 {
        group.addTask {
          do {
            try await store.write { tx in
              // Object 2 never fits. Object 4 fits after the map has grown.
              let size = id == 2 ? 3 << 20 : id == 4 ? 1_200_000 : 10_000
              try tx.insert(Everything(id: id, text: String(repeating: "x", count: size)))
            }
          } catch let error as StoreError {
            await errors.add(error.code, of: id)
          }
        }
        // Queues the writes in the order of their ids.
        while store.writes.count <= id { try await Task.sleep(for: .milliseconds(1)) }
      }
      try await blocker.release(store, waiting: 6)
      try await group.waitForAll()
    }
    #expect(await errors.byID == [2: .mapFull])
    let keys = try await store.read { Set(try $0.fetch(Everything.all).map(\.id)) }
    #expect(keys == [0, 1, 3, 4, 5])
  }

  /// A limit on the file size makes the commit fail after all writes have run.
  @Test func `a failed commit fails every write that shares it`() async throws {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      signal(SIGXFSZ, SIG_IGN)
      let store = try Store(at: path, models: [Everything.self])
      try await store.write { try $0.insert(Everything(id: 1_000)) }
      let before = try store.commitNumber()
      let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
      var unlimited = rlimit()
      unsafe getrlimit(resource, &unlimited)
      var limit = unlimited
      limit.rlim_cur = rlim_t(try FileSize.of(path + "/data.mdb"))
      let (blocker, errors) = (WriteBlocker(), Errors())
      try await withThrowingTaskGroup { group in
        try await blocker.hold(store, in: &group)
        for id in Int64(0)..<5 {
          group.addTask {
            do {
              try await store.write { tx in
                try tx.insert(Everything(id: id, text: String(repeating: "x", count: 50_000)))
              }
            } catch let error as StoreError {
              await errors.add(error.code, of: id)
            }
          }
        }
        unsafe setrlimit(resource, &limit)
        try await blocker.release(store, waiting: 5)
        try await group.waitForAll()
      }
      #expect(await errors.byID.keys.sorted() == [0, 1, 2, 3, 4])
      #expect(try store.commitNumber() == before)
      unsafe setrlimit(resource, &unlimited)
      try await store.write { try $0.insert(Everything(id: 6)) }
      #expect(try await store.read { Set(try $0.fetch(Everything.all).map(\.id)) } == [6, 1_000])
      try store.checkPages()
    }
  }

  @Test func `a read-only store refuses every queued write`() async throws {
    try await store.write { try $0.insert(Everything(id: 1)) }
    let path = folder.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      let options = StoreOptions(access: .readOnly)
      let store = try Store(at: path, models: [Everything.self], options: options)
      let codes = await withTaskGroup(of: StoreError.Code?.self) { group in
        for _ in 0..<20 {
          group.addTask {
            do {
              try await store.write { _ = try $0.delete(Everything.self, key: 1) }
              return nil
            } catch {
              return (error as? StoreError)?.code
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes == Array(repeating: .permissionDenied, count: 20))
    }
  }

  @Test(arguments: Durability.allCases) func `a write of any durability can be read`(
    durability: Durability
  ) async throws {
    try await store.write(durability: durability) { try $0.insert(Everything(id: 1)) }
    try writeSynchronously(durability)
    #expect(try keys() == [1, 2])
    try store.sync()
    try store.checkPages()
  }

  private func writeSynchronously(_ durability: Durability) throws {
    try store.write(durability: durability) { try $0.insert(Everything(id: 2)) }
  }

  @Test(
    arguments: [
      ([.deferred, .ordered, .deferred], "ordered"), ([.ordered, .full, .deferred], "full"),
      ([.deferred, .deferred], "deferred"),
    ] as [([Durability], String)]
  )
  func `a shared commit has the strongest durability of its writes`(
    requested: [Durability],
    expected: String
  ) async throws {
    let log = RecordingLog()
    let store = try Store(
      at: folder.path + "/logged",
      models: [Everything.self],
      options: StoreOptions(logger: log.logger)
    )
    let blocker = WriteBlocker()
    try await withThrowingTaskGroup { group in
      try await blocker.hold(store, in: &group)
      for (id, durability) in requested.enumerated() {
        group.addTask {
          try await store.write(durability: durability) {
            try $0.insert(Everything(id: Int64(id)))
          }
        }
      }
      try await blocker.release(store, waiting: requested.count)
      try await group.waitForAll()
    }
    #expect(log.entries("writes shared a commit").map { $0.metadata["durability"] } == [expected])
  }

  @Test func `the writes of one task run in order among concurrent writes`() async throws {
    try await store.write { try $0.insert(Everything(id: 1)) }
    try await withThrowingTaskGroup { group in
      for task in Int64(0)..<8 {
        group.addTask {
          for number in Int64(1)...20 {
            let (own, total) = try await store.write { tx in
              let total = try tx.find(Everything.self, key: 1)?.received ?? -1
              try tx.update(Everything.self, key: 1) { $0.received += 1 }
              try tx.upsert(Everything(id: 100 + task, received: number))
              return (try tx.find(Everything.self, key: 100 + task)?.received, total)
            }
            #expect(own == number)
            #expect(total >= number - 1)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.read { try $0.find(Everything.self, key: 1)?.received } == 160)
  }
}
