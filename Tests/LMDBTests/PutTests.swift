import TestSupport
import Testing

@testable import LMDB

/// Tests `append`, which writes after the last key without a search (`MDB_APPEND`).
@Suite struct PutTests {
  let folder: TemporaryFolder
  let environment: Environment
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try Environment.open(folder.path)
    database = try environment.database("strings")
  }

  @Test func `keys appended in order are read back`() throws {
    let keys = (1_000..<9_000).map { "\($0)" }
    try environment.write { transaction in
      for key in keys {
        let isAppended = try transaction.append("v" + key, for: key, in: database)
        #expect(isAppended)
      }
    }
    let snapshot = try environment.beginRead()
    #expect(try snapshot.keys(of: database) == keys)
    #expect(try snapshot.string(for: "4711", in: database) == "v4711")
    try environment.checkPages()
  }

  @Test(arguments: ["b", "a"])
  func `append returns false and keeps the entries if the key is not the greatest`(
    key: String
  ) throws {
    let answers = try environment.write { transaction in
      [
        try transaction.append("1", for: "b", in: database),
        try transaction.append("2", for: key, in: database),
        try transaction.append("3", for: "c", in: database),
      ]
    }
    #expect(answers == [true, false, true])
    let snapshot = try environment.beginRead()
    #expect(try snapshot.keys(of: database) == ["b", "c"])
    #expect(try snapshot.string(for: "b", in: database) == "1")
  }

  @Test func `appending an empty key throws badValueSize`() throws {
    #expect(throws: LMDBError(.badValueSize, operation: "mdb_put")) {
      try environment.write { try $0.append("1", for: "", in: database) }
    }
  }

  @Test func `a refused append does not set hasChanges`() throws {
    try environment.write { try $0.put("1", for: "b", in: database) }
    let (refused, appended) = try environment.write { transaction in
      _ = try transaction.append("2", for: "a", in: database)
      let refused = transaction.hasChanges
      _ = try transaction.append("2", for: "c", in: database)
      return (refused, transaction.hasChanges)
    }
    #expect(!refused)
    #expect(appended)
  }

  @Test func `integer keys are appended in numeric order`() throws {
    let numbers = try environment.database("numbers", keys: .integers)
    let written: [UInt64] = [1, 255, 256, 65_536, 1 << 40]
    try environment.write { transaction in
      for number in written {
        let isAppended = unsafe try withUnsafeBytes(of: number) { key in
          unsafe try transaction.append(
            UnsafeRawBufferPointer(start: nil, count: 0),
            for: key,
            in: numbers
          )
        }
        #expect(isAppended)
      }
    }
    #expect(try environment.beginRead().count(of: numbers) == written.count)
  }

  @Test(.timeLimit(.minutes(10))) func `appending to a full map throws mapFull, and the map grows`()
    throws
  {
    let small = try TemporaryFolder()
    let options = EnvironmentOptions(mapSize: 1 << 20)
    let environment = try Environment.open(small.path, options: options)
    let database = try environment.database("strings")
    let text = String(filledWith: "x", count: 2 << 20)
    var failures = 0
    while true {
      do {
        let isAppended = try environment.write { try $0.append(text, for: "a", in: database) }
        #expect(isAppended)
        break
      } catch let error as LMDBError where error.code == .mapFull {
        failures += 1
      }
    }
    #expect(failures > 0)
    #expect(try environment.string(for: "a", in: database) == text)
  }
}
