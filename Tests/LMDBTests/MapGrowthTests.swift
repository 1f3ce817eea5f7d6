import LMDB
import SystemInterface
import TestSupport
import Testing

@Suite struct MapGrowthTests {
  let folder: TemporaryFolder
  let small = EnvironmentOptions(mapSize: 1 << 20)

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Writes `count` values of `size` bytes, each in its own commit, and returns how often a write
  /// failed because the map was full.
  private func fill(
    _ environment: Environment,
    _ database: Database,
    count: Int,
    size: Int
  ) throws -> Int {
    let text = String(filledWith: "x", count: size)
    var failures = 0
    for number in 0..<count {
      while true {
        do {
          try environment.write { try $0.put(text, for: "\(number)", in: database) }
          break
        } catch let error as LMDBError where error.code == .mapFull {
          failures += 1
        }
      }
    }
    return failures
  }

  @Test func `a map of 1 MiB grows beyond 64 MiB without a failed write`() throws {
    let environment = try Environment.open(folder.path, options: small)
    let database = try environment.database("strings")
    let failures = try fill(environment, database, count: 350, size: 200_000)
    #expect(failures == 0)
    let statistics = try environment.statistics()
    #expect(statistics.usedSize > 64 << 20)
    #expect(statistics.mapSize > statistics.usedSize)
    #expect(try environment.beginRead().count(of: database) == 350)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a write larger than the map succeeds after fewer than seven failures`() throws {
    let environment = try Environment.open(folder.path, options: small)
    let database = try environment.database("strings")
    #expect(try fill(environment, database, count: 1, size: 20 << 20) < 7)
    #expect(try environment.string(for: "0", in: database)?.utf8.count == 20 << 20)
  }

  /// The map cannot grow while a task that is suspended has a read transaction, so each reader has
  /// a thread.
  @Test(.timeLimit(.minutes(10)))
  func `the map grows although there is always an open read transaction`() async throws {
    let environment = try Environment.open(folder.path, options: small)
    let database = try environment.database("strings")
    let isDone = Mutex(false)
    let readers = (0..<3).map { _ in
      inThread {
        while !isDone.withLock({ $0 }) {
          let snapshot = try environment.beginRead()
          _ = try snapshot.count(of: database)
          _ = try environment.lastTransactionID()
        }
      }
    }
    let filled = Result { try fill(environment, database, count: 100, size: 100_000) }
    isDone.withLock { $0 = true }
    for reader in readers { for try await _ in reader {} }
    _ = try filled.get()
    #expect(try environment.statistics().mapSize > 10 << 20)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a read adopts the larger map size of another process`() async throws {
    let environment = try Environment.open(folder.path, options: small)
    let database = try environment.database("strings")
    let path = folder.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      let environment = try Environment.open(path)
      let database = try environment.database("strings")
      let text = String(filledWith: "x", count: 8 << 20)
      try environment.write { try $0.put(text, for: "theirs", in: database) }
    }
    #expect(try environment.string(for: "theirs", in: database)?.utf8.count == 8 << 20)
    try environment.write { try $0.put("ours", for: "ours", in: database) }
    #expect(try environment.string(for: "ours", in: database) == "ours")
  }

  @Test(.timeLimit(.minutes(10)))
  func `a write adopts the larger map size of another process`() async throws {
    let environment = try Environment.open(folder.path, options: small)
    let database = try environment.database("strings")
    let path = folder.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      let environment = try Environment.open(path)
      let database = try environment.database("strings")
      let text = String(filledWith: "x", count: 8 << 20)
      try environment.write { try $0.put(text, for: "theirs", in: database) }
    }
    try environment.write { try $0.put("ours", for: "ours", in: database) }
    #expect(try environment.beginRead().count(of: database) == 2)
  }
}
