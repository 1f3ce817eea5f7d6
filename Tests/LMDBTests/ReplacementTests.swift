import Foundation
import Synchronization
import TestSupport
import Testing

@testable import LMDB

/// Tests the steps in which processes open and replace a data file, one by one; the model in
/// `Tests/Models` checks all interleavings.
@Suite(.timeLimit(.minutes(10))) struct ReplacementTests {
  /// The steps of an opening, in their order.
  static let openingSteps: [ReplacementStep] = [
    .openDataFile, .shareDataFile, .compareDataFile, .announceLockFile, .compareLockFiles,
    .openEnvironment, .compareEnvironment, .compareCommitNumber, .closeEnvironment,
    .unshareDataFile,
  ]
  /// The steps of a replacement, in their order.
  static let replacingSteps: [ReplacementStep] = [
    .claimDataFile, .compareClaimedFile, .claimLockFile, .invalidateLockFile, .writeNewFile,
    .claimNewFile, .renameNewFile, .releaseLockFile, .unclaimDataFiles,
  ]
  static let count = 500

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let environment = try Environment.open(folder.path)
    let database = try environment.database("strings")
    for half in 0..<2 {
      try environment.write { transaction in
        for key in half * 250..<half * 250 + 250 {
          try transaction.put("\(key)", for: "\(key)", in: database)
        }
      }
    }
    // An even number, which leads to the empty meta page of a compacted file.
    while try environment.lastTransactionID() % 2 != 0 {
      try environment.write { try $0.put("even", for: "0", in: database) }
    }
  }

  /// Counts the entries, and adds one.
  private static func countAndAdd(_ path: String, isReadOnly: Bool = false) throws -> Int {
    let environment = try Environment.open(
      path,
      options: EnvironmentOptions(isReadOnly: isReadOnly)
    )
    let count: Int
    do {
      let snapshot = try environment.beginRead()
      let database = try #require(try snapshot.openDatabase("strings"))
      count = try snapshot.count(of: database)
      try snapshot.keepDatabases()
      guard !isReadOnly else { return count }
    }
    let database = try environment.database("strings")
    try environment.write { try $0.put("added", for: "added \(count)", in: database) }
    try environment.checkPages()
    return count
  }

  @Test func `the steps of openings and replacements are all steps`() {
    #expect(Self.openingSteps + Self.replacingSteps == ReplacementStep.allCases)
  }

  @Test(arguments: openingSteps, [false, true])
  func `a process that is stopped at a step of opening never holds a replaced file`(
    step: ReplacementStep,
    isReadOnly: Bool
  ) async throws {
    let path = folder.path
    let replacement = inThread {
      waitForFile(path + "/at")
      defer { makeFile(path + "/go") }
      do {
        try Environment.compact(path)
        return true
      } catch let error as LMDBError where error.code == .busy {
        return false
      }
    }
    await #expect(processExitsWith: .success) {
      [path = path as String, name = step.rawValue as String, isReadOnly = isReadOnly as Bool] in
      let isFirst = Atomic(true)
      let count = try ReplacementStep.$observer.withValue(
        { step in
          guard step.rawValue == name, isFirst.exchange(false, ordering: .relaxed) else { return }
          makeFile(path + "/at")
          waitForFile(path + "/go")
        },
        operation: {
          try Self.countAndAdd(path, isReadOnly: isReadOnly)
        }
      )
      #expect(count == Self.count)
    }
    for try await isReplaced in replacement {
      #expect(isReplaced == [.openDataFile, .shareDataFile].contains(step))
    }
    let expected = isReadOnly ? Self.count : Self.count + 1
    #expect(try Self.countAndAdd(path) == expected)
  }

  @Test(arguments: replacingSteps)
  func `a process that is killed at a step of a replacement leaves an environment that opens`(
    step: ReplacementStep
  ) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = folder.path as String, name = step.rawValue as String] in
      try ReplacementStep.$observer.withValue(
        { step in
          if step.rawValue == name { kill(getpid(), SIGKILL) }
        },
        operation: {
          try Environment.compact(path)
        }
      )
    }
    #expect(try Self.countAndAdd(folder.path, isReadOnly: true) == Self.count)
    #expect(try Self.countAndAdd(folder.path) == Self.count)
    try Environment.compact(folder.path)
    #expect(try Self.countAndAdd(folder.path) == Self.count + 1)
    #expect(try folder.names() == ["data.mdb", "lock.mdb"])
  }

  @Test(arguments: replacingSteps, [false, true])
  func `an opening waits for a replacement that is stopped at a step, and sees the last commit`(
    step: ReplacementStep,
    isReadOnly: Bool
  ) async throws {
    let path = folder.path
    let opening = inThread {
      waitForFile(path + "/at")
      // Until it has begun to open the file, the opening needs no replacement to end.
      return try ReplacementStep.$observer.withValue(
        { step in
          if step == .shareDataFile { makeFile(path + "/go") }
        },
        operation: {
          try Self.countAndAdd(path, isReadOnly: isReadOnly)
        }
      )
    }
    await #expect(processExitsWith: .success) {
      [path = path as String, name = step.rawValue as String] in
      try ReplacementStep.$observer.withValue(
        { step in
          guard step.rawValue == name else { return }
          makeFile(path + "/at")
          waitForFile(path + "/go")
        },
        operation: {
          // Before it has claimed the file, the opening may be first.
          do {
            try Environment.compact(path)
          } catch let error as LMDBError where error.code == .busy && name == "claimDataFile" {}
        }
      )
    }
    for try await count in opening { #expect(count == Self.count) }
    #expect(try Self.countAndAdd(path) == Self.count + (isReadOnly ? 0 : 1))
  }

  @Test func `opening an environment that is being replaced does not delay others`() async throws {
    let path = folder.path
    let other = try TemporaryFolder()
    let opening = inThread {
      waitForFile(path + "/claimed")
      return try ReplacementStep.$observer.withValue(
        { step in
          if step == .shareDataFile { makeFile(path + "/opening") }
        },
        operation: {
          try Self.countAndAdd(path)
        }
      )
    }
    let others = inThread {
      waitForFile(path + "/opening")
      defer { makeFile(path + "/go") }
      // With a lock for all environments of a process, this would wait for the other process.
      do { _ = try Environment.open(other.path) }
      try Environment.compact(other.path)
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      try Environment.withExclusiveAccess(to: path) {
        makeFile(path + "/claimed")
        waitForFile(path + "/go")
      }
    }
    for try await _ in others {}
    for try await count in opening { #expect(count == Self.count) }
  }

  private static func code(_ body: () throws -> Void) -> LMDBError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? LMDBError)?.code
    }
  }

  /// What a program with a plain LMDB leaves that opened a file which was replaced.
  @Test(arguments: [0, 2, 4, 1_000])
  func `a lock file with the commit number of another data file is not trusted`(
    number: Int
  ) async throws {
    let path = folder.path
    try Environment.compact(path)
    let codes = inThread {
      waitForFile(path + "/locked")
      defer { makeFile(path + "/go") }
      return [true, false].map { isReadOnly in
        Self.code { _ = try Self.countAndAdd(path, isReadOnly: isReadOnly) }
      }
    }
    await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
      let descriptor = unsafe open(path + "/lock.mdb", O_RDWR | O_CLOEXEC)
      var lock = flock()
      lock.l_type = Int16(F_RDLCK)
      lock.l_len = 1
      #expect(unsafe fcntl(descriptor, F_SETLK, &lock) == 0)
      // The number follows a magic number, the format, and a mutex.
      var stale = UInt64(number)
      let offset = unsafe 8 + MemoryLayout<pthread_mutex_t>.size
      #expect(unsafe pwrite(descriptor, &stale, 8, off_t(offset)) == 8)
      makeFile(path + "/locked")
      waitForFile(path + "/go")
    }
    for try await codes in codes { #expect(codes == [.busy, .busy]) }
    #expect(try Self.countAndAdd(path) == Self.count)
  }

  @Test func `a lock file that was deleted while processes use it is not made again`() async throws
  {
    let path = folder.path
    let codes = inThread {
      waitForFile(path + "/open")
      defer { makeFile(path + "/go") }
      _ = unsafe unlink(path + "/lock.mdb")
      return [
        Self.code { _ = try Self.countAndAdd(path) },
        Self.code { _ = try Self.countAndAdd(path, isReadOnly: true) },
        Self.code { try Environment.compact(path) },
      ]
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      let environment = try Environment.open(path)
      makeFile(path + "/open")
      waitForFile(path + "/go")
      _ = try environment.lastTransactionID()
    }
    for try await codes in codes { #expect(codes == [.busy, .busy, .busy]) }
    #expect(try Self.countAndAdd(path) == Self.count)
  }

  @Test func `compacting deletes no file that it did not make`() throws {
    try folder.makeFile("data.mdb.compacted", "theirs")
    try folder.makeFile("data.mdb.new-1", "theirs")
    try Environment.compact(folder.path)
    #expect(
      try folder.names() == ["data.mdb", "data.mdb.compacted", "data.mdb.new-1", "lock.mdb"]
    )
  }

  @Test func `the folder of a new file is abandoned only when its process has ended`() async throws
  {
    let path = folder.path
    let whileRunning = inThread {
      waitForFile(path + "/made")
      defer { makeFile(path + "/go") }
      return NewFileFolder.abandoned(in: path).count
    }
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let made = try NewFileFolder.make(in: path)
      makeFile(made.file)
      makeFile(path + "/made")
      waitForFile(path + "/go")
      kill(getpid(), SIGKILL)
    }
    for try await count in whileRunning { #expect(count == 0) }
    let abandoned = NewFileFolder.abandoned(in: path)
    #expect(abandoned.count == 1)
    #expect(NewFileFolder.abandoned(in: path).isEmpty)
    for folder in abandoned { folder.remove() }
    #expect(try folder.names() == ["data.mdb", "go", "lock.mdb", "made"])
  }

  @Test(.enabled(if: getuid() == 0, "only root can give files to another user"))
  func `a replacement keeps the owner, and root makes files for the owner`() throws {
    let path = folder.path
    func owner(_ name: String) -> uid_t? {
      var status = stat()
      return unsafe lstat(folder.path(name), &status) == 0 ? status.st_uid : nil
    }
    for name in ["", "data.mdb"] { #expect(unsafe chown(folder.path(name), 1_234, 1_234) == 0) }
    _ = unsafe unlink(folder.path("lock.mdb"))
    try Environment.compact(path)
    #expect(owner("data.mdb") == 1_234)
    #expect(owner("lock.mdb") == 1_234)
    #expect(try Self.countAndAdd(path) == Self.count)
  }
}
