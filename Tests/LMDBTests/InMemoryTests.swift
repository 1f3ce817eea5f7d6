import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct InMemoryTests {
  @Test func `an in-memory environment stores entries without a file`() throws {
    let environment = try Environment.openInMemory()
    #expect(!FileManager.default.fileExists(atPath: environment.path))
    let database = try environment.database("strings")
    try environment.write { transaction in
      for number in 0..<1_000 { try transaction.put("v\(number)", for: "\(number)", in: database) }
    }
    #expect(try environment.string(for: "999", in: database) == "v999")
    try environment.checkPages()
    try environment.clearStaleReaders()
  }

  @Test func `two in-memory environments are independent`() throws {
    let first = try Environment.openInMemory()
    let second = try Environment.openInMemory()
    let database = try first.database("strings")
    try first.write { try $0.put("first", for: "a", in: database) }
    #expect(try second.beginRead().openDatabase("strings") == nil)
  }

  @Test(arguments: CommitSync.allCases)
  func `commits of an in-memory environment are never synced`(sync: CommitSync) throws {
    let environment = try Environment.openInMemory()
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase("strings")
    try transaction.put("", for: "a", in: database)
    try transaction.commit(sync)
    #expect(try environment.syncFlags() & CommitSync.deferred.flags != 0)
  }

  @Test func `an in-memory environment grows and can be copied to disk`() throws {
    let backups = try TemporaryFolder()
    do {
      let environment = try Environment.openInMemory(options: EnvironmentOptions(mapSize: 1 << 20))
      let database = try environment.database("strings")
      let text = String(repeating: "x", count: 100_000)
      for number in 0..<50 {
        try environment.write { try $0.put(text, for: "\(number)", in: database) }
      }
      try environment.copy(to: backups.path("data.mdb"))
    }
    let copy = try Environment.open(backups.path)
    let database = try copy.database("strings")
    #expect(try copy.beginRead().count(of: database) == 50)
  }

  @Test(.timeLimit(.minutes(10)))
  func `concurrent readers of an in-memory environment see whole commits`() async throws {
    let environment = try Environment.openInMemory()
    let database = try environment.database("pairs")
    try await withThrowingTaskGroup { group in
      group.addTask {
        for number in 1...200 {
          try environment.write { transaction in
            for key in ["a", "b"] { try transaction.put("\(number)", for: key, in: database) }
          }
        }
      }
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<200 {
            let snapshot = try environment.beginRead()
            let first = try snapshot.string(for: "a", in: database)
            #expect(try snapshot.string(for: "b", in: database) == first)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try environment.string(for: "a", in: database) == "200")
  }
}
