import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct ReaderTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Opens nested read transactions until one is refused, and returns how many succeeded.
  private func nest(_ environment: Environment, _ depth: Int) throws -> Int {
    do {
      let transaction = try environment.beginRead()
      defer { _ = transaction.id }
      return try nest(environment, depth + 1)
    } catch let error as LMDBError where error.code == .readersFull {
      return depth
    }
  }

  @Test func `exceeding maximumReaders throws readersFull and loses no slot`() throws {
    let options = EnvironmentOptions(maximumReaders: 60)
    let environment = try Environment.open(folder.path, options: options)
    let limit = try nest(environment, 0)
    #expect(limit >= 60)
    for _ in 0..<5 { #expect(try nest(environment, 0) == limit) }
  }

  @Test func `consecutive reads reuse one reader slot`() throws {
    let environment = try Environment.open(folder.path)
    for _ in 0..<1_000 { _ = try environment.beginRead() }
    #expect(try environment.statistics().readers == 1)
  }

  @Test func `concurrent readers see each commit completely or not at all`() async throws {
    let environment = try Environment.open(folder.path)
    let database = try environment.database("pairs")
    let last = 300
    try await withThrowingTaskGroup { group in
      group.addTask {
        for number in 1...last {
          try environment.write { transaction in
            for key in ["a", "b"] { try transaction.put("\(number)", for: key, in: database) }
          }
        }
      }
      for _ in 0..<4 {
        group.addTask {
          var seen = 0
          while seen < last {
            do {
              let snapshot = try environment.beginRead()
              let number = Int(try snapshot.string(for: "a", in: database) ?? "0") ?? -1
              #expect(Int(try snapshot.string(for: "b", in: database) ?? "0") == number)
              #expect(number >= seen)
              seen = number
            }
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `clearStaleReaders frees the slot of a killed process`() async throws {
    let environment = try Environment.open(folder.path)
    _ = try environment.database("a")
    let path = folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let environment = try Environment.open(path)
      let transaction = try environment.beginRead()
      kill(getpid(), SIGKILL)
      _ = transaction.id
    }
    #expect(try environment.clearStaleReaders() == 1)
    #expect(try environment.clearStaleReaders() == 0)
  }

  @Test func `a write with a requested reader check frees the slots of killed processes`()
    async throws
  {
    let environment = try Environment.open(folder.path)
    _ = try environment.database("a")
    let path = folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let environment = try Environment.open(path)
      let transaction = try environment.beginRead()
      kill(getpid(), SIGKILL)
      _ = transaction.id
    }
    environment.gate.requestReaderCheck()
    for _ in 0..<2 { try environment.write { _ in } }
    #expect(environment.clearedReaderCount == 1)
    #expect(try environment.clearStaleReaders() == 0)
  }
}
