import TestSupport
import Testing

@testable import LMDB

/// Tests that lookups in a read transaction never use a tree of another snapshot, map or database.
@Suite struct SnapshotTreesTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func bytes(_ key: UInt64) -> [UInt8] {
    unsafe withUnsafeBytes(of: key) { unsafe Array($0) }
  }

  /// Stores the same value under each key.
  private func put(
    _ value: String,
    for keys: Range<UInt64>,
    in database: Database,
    of environment: Environment
  ) throws {
    try environment.write { transaction in
      for key in keys {
        try transaction.put(Array(value.utf8).span, for: bytes(key).span, in: database)
      }
    }
  }

  /// Looks up a key in the map.
  private func find(
    _ key: UInt64,
    in database: Database,
    _ transaction: borrowing ReadTransaction
  ) throws -> String? {
    let reference = unsafe TransactionReference(transaction)
    let value = unsafe try reference.value(of: key, in: database)
    return unsafe value.map { unsafe String(decoding: $0, as: UTF8.self) }
  }

  @Test func `a transaction that is reused finds the values of the commit that it reads`() throws {
    let environment = try Environment.open(folder.path)
    let database = try environment.database("numbers", keys: .integers)
    for round in 0..<20 as Range<UInt64> {
      // The database is empty in the first rounds.
      if round > 1 {
        try put("\(round)", for: round % 2 * 1_000..<2_000, in: database, of: environment)
      }
      for _ in 0..<2 {
        let transaction = try environment.beginRead()
        #expect(try find(1_999, in: database, transaction) == (round > 1 ? "\(round)" : nil))
        #expect(try find(2_000, in: database, transaction) == nil)
      }
    }
  }

  @Test func `values are found after the map has moved`() throws {
    let environment = try Environment.open(
      folder.path,
      options: EnvironmentOptions(mapSize: 1 << 20)
    )
    let database = try environment.database("numbers", keys: .integers)
    try put("old", for: 0..<100, in: database, of: environment)
    #expect(try find(99, in: database, try environment.beginRead()) == "old")
    let commit = try environment.lastTransactionID()
    let size = try environment.statistics().mapSize
    #expect(throws: LMDBError.self) {
      try environment.write { transaction in
        let value = [UInt8](repeating: 7, count: 2 << 20)
        try transaction.put(value.span, for: bytes(1).span, in: database)
      }
    }
    // The next writer enlarges the map, and changes nothing.
    _ = try environment.beginWrite()
    #expect(try environment.statistics().mapSize > size)
    #expect(try environment.lastTransactionID() == commit)
    #expect(try find(99, in: database, try environment.beginRead()) == "old")
  }

  @Test func `a database that gets the handle of another one is searched itself`() throws {
    let environment = try Environment.open(folder.path)
    try environment.write { transaction in
      for name in ["first", "second"] {
        let database = try transaction.createDatabase(name, keys: .integers)
        for key in 0..<100 as Range<UInt64> {
          try transaction.put(Array(name.utf8).span, for: bytes(key).span, in: database)
        }
      }
    }
    // In the copy no handle is open.
    let other = try TemporaryFolder()
    try environment.copy(to: other.path("data.mdb"))
    let copy = try Environment.open(other.path)
    for name in ["first", "second", "first"] {
      // The transaction ends without a commit, and its handle is given to the next database.
      let transaction = try copy.beginRead()
      let database = try #require(try transaction.openDatabase(name, keys: .integers))
      #expect(try find(50, in: database, transaction) == name)
    }
  }

  @Test func `a write transaction finds its own changes`() throws {
    let environment = try Environment.open(folder.path)
    let database = try environment.database("numbers", keys: .integers)
    try put("old", for: 0..<1_000, in: database, of: environment)
    #expect(try find(500, in: database, try environment.beginRead()) == "old")
    var transaction = try environment.beginWrite()
    try transaction.put(Array("new".utf8).span, for: bytes(500).span, in: database)
    let reference = unsafe TransactionReference(transaction)
    let value = unsafe try reference.value(of: 500, in: database)
    #expect(unsafe value.map { unsafe String(decoding: $0, as: UTF8.self) } == "new")
    #expect(try find(500, in: database, try environment.beginRead()) == "old")
  }
}
