import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct CopyTests {
  let folder: TemporaryFolder
  let backups: TemporaryFolder
  let environment: Environment
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    backups = try TemporaryFolder()
    environment = try Environment.open(folder.path)
    database = try environment.database("strings")
  }

  private var copyPath: String { backups.path("data.mdb") }

  private func size(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }

  @Test(arguments: [false, true])
  func `a copy contains the last commit and has permissions 0600`(compacting: Bool) throws {
    try environment.write { transaction in
      for number in 0..<3_000 { try transaction.put("v\(number)", for: "\(number)", in: database) }
      try transaction.put(String(repeating: "x", count: 30_000), for: "large", in: database)
    }
    try environment.copy(to: copyPath, compacting: compacting)
    let attributes = try FileManager.default.attributesOfItem(atPath: copyPath)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let copy = try Environment.open(backups.path)
    try copy.checkPages()
    let strings = try copy.database("strings")
    let copied = try copy.beginRead()
    let original = try environment.beginRead()
    #expect(try copied.keys(of: strings) == original.keys(of: database))
    #expect(
      try copied.string(for: "large", in: strings) == original.string(for: "large", in: database)
    )
    try copy.write { try $0.put("", for: "later", in: strings) }
    #expect(try environment.string(for: "later", in: database) == nil)
  }

  @Test(arguments: [false, true])
  func `an empty environment can be copied`(compacting: Bool) throws {
    let empty = try TemporaryFolder()
    try Environment.open(empty.path).copy(to: copyPath, compacting: compacting)
    #expect(try Environment.open(backups.path).beginRead().openDatabase("strings") == nil)
  }

  @Test func `a compacted copy has no free pages`() throws {
    try environment.write { transaction in
      for number in 0..<5_000 { try transaction.put("text", for: "\(number)", in: database) }
    }
    try environment.write { try $0.removeAll(in: database) }
    try environment.copy(to: copyPath, compacting: true)
    try environment.copy(to: backups.path("whole.mdb"))
    #expect(try size(copyPath) * 10 < size(backups.path("whole.mdb")))
  }

  @Test func `copying to an existing file throws and keeps that file`() throws {
    try backups.makeFile("data.mdb", "mine")
    #expect(throws: LMDBError(.fileExists, operation: "open")) {
      try environment.copy(to: copyPath)
    }
    #expect(try String(contentsOfFile: copyPath, encoding: .utf8) == "mine")
  }

  @Test func `copying into a missing folder throws noSuchFile`() throws {
    #expect(throws: LMDBError(.noSuchFile, operation: "open")) {
      try environment.copy(to: backups.path("none/data.mdb"))
    }
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "needs /dev/full"),
    arguments: [false, true]
  )
  func `copying to a full disk throws noSpace`(compacting: Bool) throws {
    let device = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    #expect(throws: LMDBError(.noSpace, operation: "mdb_env_copyfd2")) {
      try environment.copy(to: device.fileDescriptor, compacting: compacting)
    }
    try environment.write { try $0.put("", for: "later", in: database) }
  }

  /// A limit on the file size simulates a full disk: the copy fails part of the way.
  @Test(arguments: [false, true])
  func `a failed copy leaves no file`(compacting: Bool) async throws {
    try environment.write { transaction in
      for number in 0..<5_000 { try transaction.put("text", for: "\(number)", in: database) }
    }
    await #expect(processExitsWith: .success) {
      [
        path = folder.path as String, target = copyPath as String,
        compacting = compacting as Bool
      ] in
      signal(SIGXFSZ, SIG_IGN)
      let environment = try Environment.open(path)
      var limit = rlimit(rlim_cur: 50_000, rlim_max: 50_000)
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      let error = #expect(throws: LMDBError.self) {
        try environment.copy(to: target, compacting: compacting)
      }
      #expect(error?.code == LMDBError.Code(rawValue: EFBIG))
    }
    #expect(try backups.names() == [])
  }

  @Test func `copying inside a write transaction throws instead of deadlocking`() throws {
    try environment.write { transaction in
      try transaction.put("", for: "a", in: database)
      #expect(throws: LMDBError(.wouldDeadlock, operation: "mdb_txn_begin")) {
        try environment.copy(to: copyPath)
      }
    }
    #expect(try backups.names() == [])
    try environment.copy(to: copyPath)
  }

  @Test(.timeLimit(.minutes(10)), arguments: [false, true])
  func `copies made during writes each contain exactly one commit`(compacting: Bool) async throws {
    try environment.write { transaction in
      for key in 0..<2_000 { try transaction.put("0", for: "\(key)", in: database) }
    }
    try await withThrowingTaskGroup { group in
      group.addTask {
        var number = 0
        while !Task.isCancelled {
          number += 1
          try environment.write { transaction in
            for key in stride(from: 0, to: 2_000, by: 7) {
              try transaction.put("\(number)", for: "\(key)", in: database)
            }
          }
          // A copy waits for the lock of writers, which is not fair.
          await Task.yield()
        }
      }
      for number in 0..<5 {
        let path = backups.path("\(number)")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try environment.copy(to: path + "/data.mdb", compacting: compacting)
        let copy = try Environment.open(path)
        try copy.checkPages()
        let strings = try copy.database("strings")
        let snapshot = try copy.beginRead()
        let first = try snapshot.string(for: "0", in: strings)
        for key in stride(from: 0, to: 2_000, by: 7) {
          #expect(try snapshot.string(for: "\(key)", in: strings) == first)
        }
      }
      group.cancelAll()
      try await group.waitForAll()
    }
    #expect(try environment.statistics().readers < 5)
  }
}
