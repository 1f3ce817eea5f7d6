import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct EnvironmentStatisticsTests {
  let folder: TemporaryFolder
  let environment: Environment
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try Environment.open(folder.path)
    database = try environment.database("strings")
  }

  @Test func `database statistics count entries, depth and pages`() throws {
    #expect(try environment.beginRead().statistics(of: database).depth == 0)
    try environment.write { transaction in
      for number in 0..<2_000 { try transaction.put("text", for: "\(number)", in: database) }
      try transaction.put(String(repeating: "x", count: 10_000), for: "large", in: database)
    }
    let statistics = try environment.beginRead().statistics(of: database)
    #expect(statistics.entries == 2_001)
    #expect(statistics.depth == 2)
    #expect(statistics.branchPages == 1)
    #expect(statistics.leafPages > 5)
    #expect(statistics.overflowPages == 3)
  }

  @Test func `the main database has one entry per named database`() throws {
    _ = try environment.database("more")
    let statistics = try environment.statistics().mainDatabase
    #expect(statistics.entries == 2)
    #expect(statistics.depth == 1)
    #expect(statistics.leafPages == 1)
  }

  @Test func `every page is in use or counted as free`() throws {
    for round in 0..<6 {
      try environment.write { transaction in
        if round == 3 { try transaction.removeAll(in: database) }
        for number in stride(from: round, to: 5_000, by: 2) {
          try transaction.put("round \(round)", for: "\(number)", in: database)
        }
      }
      let statistics = try environment.statistics()
      let pages = [statistics.mainDatabase, try environment.beginRead().statistics(of: database)]
        .reduce(2) { $0 + $1.branchPages + $1.leafPages + $1.overflowPages }
      let free = try environment.freePageCount()
      // The list of free pages itself occupies pages.
      let rest = statistics.usedSize / statistics.pageSize - pages - free
      #expect((0...2).contains(rest))
      #expect(free > round)
    }
  }

  @Test func `a new environment has no free pages`() throws {
    let empty = try TemporaryFolder()
    #expect(try Environment.open(empty.path).freePageCount() == 0)
  }

  @Test func `the readers of this process are listed with their transaction ids`() throws {
    #expect(environment.readers() == [])
    let first = try environment.beginRead()
    try environment.write { try $0.put("", for: "a", in: database) }
    do {
      let second = try environment.beginRead()
      let (old, new) = (first.id, second.id)
      #expect(environment.readers().map(\.transactionID) == [old, new])
    }
    let readers = environment.readers()
    #expect(readers.map(\.transactionID) == [first.id, nil])
    #expect(readers.allSatisfy { $0.processID == getpid() && $0.thread != 0 })
  }

  @Test(.timeLimit(.minutes(10)))
  func `the reader of a killed process is listed until stale readers are cleared`() async throws {
    let path = folder.path
    let number = try environment.lastTransactionID()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let transaction = try Environment.open(path).beginRead()
      kill(getpid(), SIGKILL)
      _ = transaction.id
    }
    let reader = try #require(environment.readers().first)
    #expect(reader.processID != getpid())
    #expect(reader.transactionID == number)
    try environment.clearStaleReaders()
    #expect(environment.readers() == [])
  }

  @Test func `lines of the reader report without a reader are skipped`() {
    #expect(EnvironmentReader(line: "    pid     thread     txnid\n") == nil)
    #expect(EnvironmentReader(line: "(no active readers)\n") == nil)
    let line = "      4711 7f3a00c0 -\n"
    #expect(EnvironmentReader(line: line)?.thread == 0x7f3a_00c0)
  }
}
