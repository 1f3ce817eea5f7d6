import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite(.timeLimit(.minutes(10))) struct LockFileTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func lockFileSize() throws -> Int {
    let file = folder.path("lock.mdb")
    return try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
  }

  /// Opens nested read transactions until one is refused, and returns how many succeeded.
  private static func nestReads(_ environment: Environment, upTo most: Int) throws -> Int {
    guard most > 0 else { return 0 }
    do {
      let transaction = try environment.beginRead()
      defer { _ = transaction.id }
      return try nestReads(environment, upTo: most - 1) + 1
    } catch let error as LMDBError where error.code == .readersFull {
      return 0
    }
  }

  @Test func `the lock file keeps its size while another process uses it`() async throws {
    let path = folder.path
    let environment = try Environment.open(path, options: EnvironmentOptions(maximumReaders: 8))
    let database = try environment.database("strings")
    let size = try lockFileSize()
    let limit = try environment.statistics().maximumReaders
    await #expect(processExitsWith: .success) {
      [path = path as String, limit = limit as Int] in
      let options = EnvironmentOptions(maximumReaders: 4_000)
      let environment = try Environment.open(path, options: options)
      #expect(try environment.statistics().maximumReaders == limit)
      // With a longer lock file, this process would use slots that the other one has not mapped.
      #expect(try Self.nestReads(environment, upTo: 1_000) == limit)
    }
    #expect(try lockFileSize() == size)
    // These read every slot that has ever been used.
    try environment.write { try $0.put("later", for: "a", in: database) }
    try environment.clearStaleReaders()
  }

  /// A lock on the byte of the child's process id simulates a process with the same id in another
  /// container.
  @Test func `a process whose id is in use in another container is refused`() async throws {
    let path = folder.path
    do { _ = try Environment.open(path) }
    Thread.detachNewThread {
      waitForFile(path + "/id")
      let id = (try? String(contentsOfFile: path + "/id", encoding: .utf8)).flatMap { Int($0) }
      let descriptor = unsafe open(path + "/lock.mdb", O_RDWR | O_CLOEXEC)
      var lock = flock()
      lock.l_type = Int16(F_WRLCK)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_start = off_t(id ?? 0)
      lock.l_len = 1
      _ = unsafe fcntl(descriptor, F_SETLK, &lock)
      makeFile(path + "/locked")
      waitForFile(path + "/refused")
      close(descriptor)
      makeFile(path + "/unlocked")
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      try Data("\(getpid())".utf8).write(to: URL(filePath: path + "/id"), options: .atomic)
      waitForFile(path + "/locked")
      let environment = try Environment.open(path)
      #expect(throws: LMDBError(.processIDInUse, operation: "mdb_txn_begin")) {
        _ = try environment.beginRead()
      }
      makeFile(path + "/refused")
      waitForFile(path + "/unlocked")
      _ = try environment.beginRead()
    }
  }

  @Test func `the first process to open an environment sets the number of readers`()
    throws
  {
    do { _ = try Environment.open(folder.path, options: EnvironmentOptions(maximumReaders: 8)) }
    let options = EnvironmentOptions(maximumReaders: 4_000)
    let environment = try Environment.open(folder.path, options: options)
    #expect(try environment.statistics().maximumReaders >= 4_000)
  }

  #if os(Linux)
    @Test func `the disk space of the lock file is allocated before it is mapped`() throws {
      let environment = try Environment.open(folder.path)
      var status = stat()
      #expect(unsafe stat(folder.path("lock.mdb"), &status) == 0)
      #expect(status.st_blocks * 512 >= status.st_size)
      #expect(status.st_size > 0)
      _ = try environment.lastTransactionID()
    }

    /// Returns whether a process is waiting for a lock on the file.
    private static func hasLockWaiter(_ inode: UInt64) throws -> Bool {
      let file = try #require(FileHandle(forReadingAtPath: "/proc/locks"))
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        .split(separator: "\n")
        .contains { $0.contains("->") && $0.contains(":\(inode) ") }
    }

    @Test func `a waiting process sees the last commit after the other one was killed`()
      async throws
    {
      let path = folder.path
      do {
        let environment = try Environment.open(path)
        let database = try environment.database("strings")
        for number in 0..<5 {
          try environment.write { try $0.put("\(number)", for: "a", in: database) }
        }
        try environment.copy(to: path + "/copy", compacting: true)
      }
      await withTaskGroup { group in
        group.addTask {
          await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try Environment.withExclusiveAccess(to: path) {
              let old = try #require(EnvironmentRegistry.identity(of: path + "/data.mdb"))
              makeFile(path + "/claimed")
              while try !Self.hasLockWaiter(old.inode) { usleep(1_000) }
              try Environment.replaceDataFile(in: path, with: "copy")
              kill(getpid(), SIGKILL)
            }
          }
        }
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String] in
            waitForFile(path + "/claimed")
            // The lock file still has the transaction id of the replaced file.
            let environment = try Environment.open(path)
            let snapshot = try environment.beginRead()
            #expect(snapshot.id == 1)
            let database = try #require(try snapshot.openDatabase("strings"))
            #expect(try snapshot.string(for: "a", in: database) == "4")
          }
        }
      }
    }
  #endif
}
