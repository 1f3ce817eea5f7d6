import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite(.timeLimit(.minutes(10))) struct ExclusiveAccessTests {
  private struct Failure: Error {}

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let environment = try Environment.open(folder.path)
    let database = try environment.database("strings")
    // Several commits, so that both meta pages are in use.
    for number in 0..<5 {
      try environment.write { transaction in
        for key in 0..<2_000 { try transaction.put("\(number)", for: "\(key)", in: database) }
      }
    }
    try environment.write { transaction in
      for key in 10..<2_000 { try transaction.delete("\(key)", in: database) }
    }
  }

  private func size() throws -> Int {
    let file = folder.path("data.mdb")
    return try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
  }

  private func expectBusy(_ body: () throws -> Void) {
    let error = #expect(throws: LMDBError.self) { try body() }
    #expect(error?.code == .busy)
  }

  @Test func `exclusive access throws busy while this process has the environment open`()
    throws
  {
    do {
      let environment = try Environment.open(folder.path)
      expectBusy { try Environment.withExclusiveAccess(to: folder.path) {} }
      // The failed attempt has not released the lock of the open environment.
      try #expect(environment.beginRead().openDatabase("strings") != nil)
    }
    #expect(try Environment.withExclusiveAccess(to: folder.path) { 42 } == 42)
    _ = try Environment.open(folder.path)
  }

  @Test func `exclusive access throws busy while another process has the environment open`()
    async throws
  {
    let path = folder.path
    let refusals = inThread {
      waitForFile(path + "/open")
      defer { makeFile(path + "/close") }
      var codes: [LMDBError.Code] = []
      do {
        try Environment.withExclusiveAccess(to: path) {}
      } catch let error as LMDBError {
        codes.append(error.code)
      }
      do {
        try Environment.compact(path)
      } catch let error as LMDBError {
        codes.append(error.code)
      }
      return codes
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      let environment = try Environment.open(path)
      makeFile(path + "/open")
      waitForFile(path + "/close")
      _ = try environment.lastTransactionID()
    }
    for try await codes in refusals { #expect(codes == [.busy, .busy]) }
    try Environment.withExclusiveAccess(to: path) {}
  }

  @Test func `opening or claiming a claimed folder in the same process throws busy`() throws {
    let other = try TemporaryFolder()
    try Environment.withExclusiveAccess(to: folder.path) {
      expectBusy { _ = try Environment.open(folder.path) }
      expectBusy { try Environment.withExclusiveAccess(to: folder.path) {} }
      _ = try Environment.open(other.path)
    }
    _ = try Environment.open(folder.path)
  }

  @Test func `exclusive access ends when the body throws`() throws {
    #expect(throws: Failure.self) {
      try Environment.withExclusiveAccess(to: folder.path) { throw Failure() }
    }
    _ = try Environment.open(folder.path)
  }

  @Test func `exclusive access to a folder without an environment throws noSuchFile`() throws {
    let empty = try TemporaryFolder()
    #expect(throws: LMDBError(.noSuchFile, operation: "opening data.mdb")) {
      try Environment.withExclusiveAccess(to: empty.path) {}
    }
  }

  @Test func `compacting keeps every entry and shrinks the file`() throws {
    let before = try size()
    try Environment.compact(folder.path)
    #expect(try size() * 5 < before)
    let environment = try Environment.open(folder.path)
    let database = try environment.database("strings")
    #expect(try environment.beginRead().keys(of: database) == (0..<10).map { "\($0)" })
    try environment.write { try $0.put("later", for: "later", in: database) }
    #expect(try environment.string(for: "later", in: database) == "later")
    try environment.checkPages()
    #expect(try folder.names() == ["data.mdb", "lock.mdb"])
  }

  @Test func `compacting continues the numbers of transactions and keeps the permissions`() throws {
    let file = folder.path("data.mdb")
    func permissions() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
    // An even and an odd number.
    for _ in 0..<2 {
      let last = try Environment.open(folder.path).lastTransactionID()
      try Environment.compact(folder.path)
      let environment = try Environment.open(folder.path)
      #expect(try environment.lastTransactionID() == (last + 1) | 1)
      let database = try environment.database("strings")
      try environment.write { try $0.put("later", for: "later", in: database) }
      #expect(try environment.lastTransactionID() == ((last + 1) | 1) + 1)
      try environment.checkPages()
    }
    #expect(try permissions() == 0o640)
  }

  @Test func `compacting an environment without a commit leaves one that can be written`() throws {
    let empty = try TemporaryFolder()
    do { _ = try Environment.open(empty.path) }
    try Environment.compact(empty.path)
    let environment = try Environment.open(empty.path)
    #expect(try environment.lastTransactionID() == 0)
    let database = try environment.database("strings")
    try environment.write { try $0.put("first", for: "first", in: database) }
    #expect(try environment.string(for: "first", in: database) == "first")
    try environment.checkPages()
  }

  @Test func `compacting replaces the partial copy that a killed process left`() throws {
    try folder.makeFile("data.mdb.new-0/data.mdb", "partial")
    try Environment.compact(folder.path)
    #expect(try folder.names() == ["data.mdb", "lock.mdb"])
  }

  @Test func `abandoning a compaction removes its unfinished copy and keeps the file`()
    async throws
  {
    let path = folder.path
    await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
      // The only compactions that are abandoned are those of this process.
      let compactions = Thread { while (try? Environment.compact(path)) != nil {} }
      compactions.start()
      func hasCopy() -> Bool {
        let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        return names?.contains { $0.hasPrefix("data.mdb.new-") } == true
      }
      while !hasCopy() {
        if compactions.isFinished { _exit(4) }
        usleep(100)
      }
      UnfinishedWork.abandon()
      _exit(3)
    }
    #expect(try folder.names() == ["data.mdb", "lock.mdb"])
    let environment = try Environment.open(path)
    try environment.checkPages()
    let database = try environment.database("strings")
    #expect(try environment.beginRead().count(of: database) == 10)
  }

  @Test func `a process that has abandoned its compactions begins no other`() async {
    let path = folder.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      UnfinishedWork.abandon()
      let error = #expect(throws: LMDBError.self) { try Environment.compact(path) }
      #expect(error?.code == LMDBError.Code(rawValue: ECANCELED))
    }
  }

  #if os(Linux)
    /// Returns whether a process is waiting for a lock on the file.
    private static func hasLockWaiter(_ inode: UInt64) throws -> Bool {
      let file = try #require(FileHandle(forReadingAtPath: "/proc/locks"))
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        .split(separator: "\n")
        .contains { $0.contains("->") && $0.contains(":\(inode) ") }
    }

    /// The waiting process has already opened the old data file.
    @Test(arguments: [false, true])
    func `a process that waits to open sees the replacement of the data file`(
      isReadOnly: Bool
    ) async throws {
      let path = folder.path
      let inode = try #require(EnvironmentRegistry.identity(of: path + "/data.mdb")).inode
      let copy = folder.path("copy")
      do { try Environment.open(path).copy(to: copy, compacting: true) }
      let claim = try EnvironmentRegistry.claim(path)
      let release = inThread {
        defer { EnvironmentRegistry.release(claim) }
        while try !Self.hasLockWaiter(inode) { usleep(1_000) }
        try Environment.replaceDataFile(in: path, with: "copy")
      }
      await #expect(processExitsWith: .success) {
        [path = path as String, isReadOnly = isReadOnly as Bool] in
        let options = EnvironmentOptions(isReadOnly: isReadOnly)
        let environment = try Environment.open(path, options: options)
        let snapshot = try environment.beginRead()
        #expect(snapshot.id == 1)
        let database = try #require(try snapshot.openDatabase("strings"))
        #expect(try snapshot.count(of: database) == 10)
        try snapshot.keepDatabases()
        guard !isReadOnly else { return }
        try environment.write { try $0.put("theirs", for: "theirs", in: database) }
      }
      for try await _ in release {}
      let environment = try Environment.open(path)
      let database = try environment.database("strings")
      #expect(try environment.beginRead().count(of: database) == (isReadOnly ? 10 : 11))
      try environment.checkPages()
    }

    @Test func `SIGKILL during exclusive access leaves an environment that opens`() async throws {
      let path = folder.path
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        do { try Environment.open(path).copy(to: path + "/copy", compacting: true) }
        try Environment.withExclusiveAccess(to: path) {
          try Environment.replaceDataFile(in: path, with: "copy")
          kill(getpid(), SIGKILL)
        }
      }
      let environment = try Environment.open(path)
      let database = try environment.database("strings")
      #expect(try environment.beginRead().count(of: database) == 10)
      try environment.write { try $0.put("later", for: "later", in: database) }
      #expect(try environment.beginRead().count(of: database) == 11)
    }
  #endif
}
