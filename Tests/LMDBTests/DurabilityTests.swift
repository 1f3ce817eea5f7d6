import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct DurabilityTests {
  let folder: TemporaryFolder
  let environment: Environment
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try Environment.open(folder.path)
    database = try environment.database("texts")
  }

  private func write(_ text: String, _ durability: Durability) throws {
    var transaction = try environment.beginWrite()
    try transaction.put(text, for: text, in: database)
    try transaction.commit(durability)
  }

  /// Those that the last commit was made with, which LMDB leaves as they are.
  private func syncFlags() throws -> Int32 {
    let all = Durability.deferred.flags | Durability.ordered.flags
    return unsafe try environmentFlags(environment.handle) & all
  }

  @Test func `each commit is synced as it asks for, whatever the one before did`() throws {
    for first in Durability.allCases {
      for second in Durability.allCases {
        try write("\(first)", first)
        #expect(try syncFlags() == first.flags)
        try write("\(second)", second)
        #expect(try syncFlags() == second.flags)
      }
    }
    try write("deferred", .deferred)
    try environment.write { try $0.put("", for: "full", in: database) }
    #expect(try syncFlags() == 0)
  }

  @Test func `a nested transaction leaves it to the outer one how to sync`() throws {
    try write("deferred", .deferred)
    var transaction = try environment.beginWrite()
    try transaction.nested { try $0.put("", for: "a", in: database) }
    #expect(try syncFlags() == Durability.deferred.flags)
    try transaction.commit(.ordered)
    #expect(try syncFlags() == Durability.ordered.flags)
  }

  @Test(arguments: Durability.allCases)
  func `a commit of any durability outlasts the process that made it`(
    durability: Durability
  ) async throws {
    let path = folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, text = "\(durability)" as String] in
      let environment = try Environment.open(path)
      let database = try environment.database("texts")
      for number in 0..<50 {
        var transaction = try environment.beginWrite()
        try transaction.put(text, for: "\(number)", in: database)
        try transaction.commit(Durability.allCases.first { "\($0)" == text } ?? .full)
      }
      kill(getpid(), SIGKILL)
    }
    #expect(try environment.beginRead().count(of: database) == 50)
    #expect(try environment.text(for: "49", in: database) == "\(durability)")
    try environment.checkPages()
  }

  @Test(.timeLimit(.minutes(5)))
  func `threads that commit with different durability lose nothing`() async throws {
    try await withThrowingTaskGroup { group in
      for durability in Durability.allCases {
        group.addTask {
          for number in 0..<50 { try write("\(durability) \(number)", durability) }
        }
      }
      group.addTask { for _ in 0..<20 { try environment.sync() } }
      try await group.waitForAll()
    }
    #expect(try environment.beginRead().count(of: database) == 150)
    try environment.checkPages()
  }

  @Test func `an environment opened for reading cannot be synced`() throws {
    let other = try TemporaryFolder()
    do { _ = try Environment.open(other.path).database("a") }
    let options = EnvironmentOptions(isReadOnly: true)
    let environment = try Environment.open(other.path, options: options)
    #expect(throws: LMDBError(.accessDenied, operation: "mdb_env_sync")) {
      try environment.sync()
    }
  }
}
