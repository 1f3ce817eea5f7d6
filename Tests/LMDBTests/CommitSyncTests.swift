import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct CommitSyncTests {
  let folder: TemporaryFolder
  let environment: Environment
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try Environment.open(folder.path)
    database = try environment.database("strings")
  }

  private func write(_ text: String, _ sync: CommitSync) throws {
    var transaction = try environment.beginWrite()
    try transaction.put(text, for: text, in: database)
    try transaction.commit(sync)
  }

  @Test func `each commit uses its own sync mode, independent of the previous commit`() throws {
    for first in CommitSync.allCases {
      for second in CommitSync.allCases {
        try write("\(first)", first)
        #expect(try environment.syncFlags() == first.flags)
        try write("\(second)", second)
        #expect(try environment.syncFlags() == second.flags)
      }
    }
    try write("deferred", .deferred)
    try environment.write { try $0.put("", for: "full", in: database) }
    #expect(try environment.syncFlags() == 0)
  }

  @Test func `a nested commit does not change the sync mode of the environment`() throws {
    try write("deferred", .deferred)
    var transaction = try environment.beginWrite()
    try transaction.nested { try $0.put("", for: "a", in: database) }
    #expect(try environment.syncFlags() == CommitSync.deferred.flags)
    try transaction.commit(.ordered)
    #expect(try environment.syncFlags() == CommitSync.ordered.flags)
  }

  @Test(arguments: CommitSync.allCases)
  func `a commit of any sync mode survives SIGKILL of its process`(
    sync: CommitSync
  ) async throws {
    let path = folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, text = "\(sync)" as String] in
      let environment = try Environment.open(path)
      let database = try environment.database("strings")
      for number in 0..<50 {
        var transaction = try environment.beginWrite()
        try transaction.put(text, for: "\(number)", in: database)
        try transaction.commit(CommitSync.allCases.first { "\($0)" == text } ?? .full)
      }
      kill(getpid(), SIGKILL)
    }
    #expect(try environment.beginRead().count(of: database) == 50)
    #expect(try environment.string(for: "49", in: database) == "\(sync)")
    try environment.checkPages()
  }

  @Test(.timeLimit(.minutes(10)))
  func `concurrent commits with different sync modes lose no entry`() async throws {
    try await withThrowingTaskGroup { group in
      for sync in CommitSync.allCases {
        group.addTask {
          for number in 0..<50 { try write("\(sync) \(number)", sync) }
        }
      }
      group.addTask { for _ in 0..<20 { try environment.sync() } }
      try await group.waitForAll()
    }
    #expect(try environment.beginRead().count(of: database) == 150)
    try environment.checkPages()
  }

  @Test func `syncing a read-only environment throws accessDenied`() throws {
    let other = try TemporaryFolder()
    do { _ = try Environment.open(other.path).database("a") }
    let options = EnvironmentOptions(isReadOnly: true)
    let environment = try Environment.open(other.path, options: options)
    #expect(throws: LMDBError(.accessDenied, operation: "mdb_env_sync")) {
      try environment.sync()
    }
  }
}
