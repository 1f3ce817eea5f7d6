import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct EnvironmentTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func permissions(of name: String) throws -> Int? {
    let path = folder.path + "/" + name
    return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func `data.mdb and lock.mdb have permissions 0600`() throws {
    let environment = try Environment.open(folder.path)
    _ = try environment.database("a")
    #expect(try permissions(of: "data.mdb") == 0o600)
    #expect(try permissions(of: "lock.mdb") == 0o600)
  }

  @Test func `opening a folder twice returns the same environment`() throws {
    let first = try Environment.open(folder.path)
    let second = try Environment.open(folder.path + "/.")
    #expect(first === second)
  }

  @Test func `a folder can be opened again after the last reference is released`() throws {
    do {
      let first = try Environment.open(folder.path)
      let database = try first.database("a")
      try first.write { try $0.put("kept", for: "k", in: database) }
    }
    let second = try Environment.open(folder.path)
    let database = try second.database("a")
    #expect(try second.string(for: "k", in: database) == "kept")
  }

  @Test func `a transaction keeps its environment open`() throws {
    func beginRead() throws -> ReadTransaction {
      let environment = try Environment.open(folder.path)
      let database = try environment.database("a")
      try environment.write { try $0.put("kept", for: "k", in: database) }
      return try environment.beginRead()
    }
    let snapshot = try beginRead()
    let database = try #require(try snapshot.openDatabase("a"))
    #expect(try snapshot.string(for: "k", in: database) == "kept")
  }

  @Test func `a folder recreated at the same path is a different environment`() throws {
    let first = try Environment.open(folder.path)
    let database = try first.database("a")
    try FileManager.default.removeItem(atPath: folder.path)
    try FileManager.default.createDirectory(
      atPath: folder.path,
      withIntermediateDirectories: false
    )
    let second = try Environment.open(folder.path)
    #expect(first !== second)
    #expect(try second.beginRead().openDatabase("a") == nil)
    #expect(try first.beginRead().count(of: database) == 0)
  }

  @Test(.timeLimit(.minutes(10)))
  func `opening and closing on many threads at the same time loses no entry`() async throws {
    try await withThrowingTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<40 {
            let environment = try Environment.open(folder.path)
            let database = try environment.database("a")
            try environment.write { try $0.put("", for: "\(task) \(round)", in: database) }
          }
        }
      }
      try await group.waitForAll()
    }
    let environment = try Environment.open(folder.path)
    let database = try environment.database("a")
    #expect(try environment.beginRead().count(of: database) == 320)
  }

  @Test func `opening a missing folder throws noSuchFile`() {
    #expect(throws: LMDBError(.noSuchFile, operation: "opening the folder")) {
      _ = try Environment.open(folder.path + "/none")
    }
  }

  @Test func `opening an empty folder read-only throws noSuchFile`() {
    #expect(throws: LMDBError(.noSuchFile, operation: "opening data.mdb")) {
      _ = try Environment.open(folder.path, options: EnvironmentOptions(isReadOnly: true))
    }
  }

  @Test func `a read-only environment refuses write transactions`() throws {
    do { _ = try Environment.open(folder.path).database("a") }
    let environment = try Environment.open(
      folder.path,
      options: EnvironmentOptions(isReadOnly: true)
    )
    #expect(environment.isReadOnly)
    #expect(throws: LMDBError.self) { _ = try environment.beginWrite() }
    #expect(try environment.beginRead().openDatabase("a") != nil)
  }

  @Test func `opening for writing throws busy while this process has it open read-only`() throws {
    do { _ = try Environment.open(folder.path).database("a") }
    #expect(!Environment.isOpenReadOnly(folder.path))
    do {
      let options = EnvironmentOptions(isReadOnly: true)
      let reader = try Environment.open(folder.path, options: options)
      #expect(Environment.isOpenReadOnly(folder.path + "/."))
      let error = #expect(throws: LMDBError.self) { _ = try Environment.open(folder.path) }
      #expect(error?.code == .busy)
      #expect(reader.isReadOnly)
    }
    let writer = try Environment.open(folder.path)
    #expect(!writer.isReadOnly)
    #expect(!Environment.isOpenReadOnly(folder.path))
  }

  @Test func `opening more databases than maximumDatabases throws databasesFull`() throws {
    let environment = try Environment.open(
      folder.path,
      options: EnvironmentOptions(maximumDatabases: 1)
    )
    _ = try environment.database("a")
    #expect(throws: LMDBError(.databasesFull, operation: "mdb_dbi_open")) {
      _ = try environment.database("b")
    }
  }

  /// If the child process hangs, `alarm` ends it and the test fails.
  @Test(.timeLimit(.minutes(10)))
  func `querying the open mode while an environment closes does not deadlock`() async throws {
    do { _ = try Environment.open(folder.path) }
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      alarm(540)
      let options = EnvironmentOptions(isReadOnly: true)
      let threads = (0..<2).map { _ in
        Thread {
          while !Thread.current.isCancelled { _ = Environment.isOpenReadOnly(path) }
        }
      }
      for thread in threads { thread.start() }
      for _ in 0..<5_000 { _ = try Environment.open(path, options: options) }
      for thread in threads { thread.cancel() }
    }
  }
}
