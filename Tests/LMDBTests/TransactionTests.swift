import LMDB
import TestSupport
import Testing

@Suite struct TransactionTests {
  private struct Failure: Error {}

  let folder: TemporaryFolder
  let environment: Environment
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try Environment.open(folder.path)
    database = try environment.database("strings")
  }

  @Test func `a committed value can be read`() throws {
    try environment.write { try $0.put("milk", for: "a", in: database) }
    #expect(try environment.string(for: "a", in: database) == "milk")
    #expect(try environment.string(for: "b", in: database) == nil)
  }

  @Test func `a write transaction that throws is rolled back`() throws {
    try environment.write { try $0.put("old", for: "a", in: database) }
    #expect(throws: Failure.self) {
      try environment.write { transaction in
        try transaction.put("new", for: "a", in: database)
        try transaction.put("new", for: "b", in: database)
        throw Failure()
      }
    }
    #expect(try environment.string(for: "a", in: database) == "old")
    #expect(try environment.string(for: "b", in: database) == nil)
  }

  @Test func `hasChanges is set only if a deletion finds the key`() throws {
    try environment.write { try $0.put("milk", for: "a", in: database) }
    var transaction = try environment.beginWrite()
    let existed = try transaction.delete("b", in: database)
    let hadChanges = transaction.hasChanges
    #expect(!existed && !hadChanges)
    let wasDeleted = try transaction.delete("a", in: database)
    let hasChanges = transaction.hasChanges
    #expect(wasDeleted && hasChanges)
    try transaction.commit()
    #expect(try environment.string(for: "a", in: database) == nil)
  }

  @Test func `a snapshot does not see later commits`() throws {
    try environment.write { try $0.put("old", for: "a", in: database) }
    let snapshot = try environment.beginRead()
    try environment.write { try $0.put("new", for: "a", in: database) }
    #expect(try snapshot.string(for: "a", in: database) == "old")
    #expect(try environment.string(for: "a", in: database) == "new")
  }

  @Test func `only the write transaction itself sees its uncommitted values`() throws {
    try environment.write { transaction in
      try transaction.put("new", for: "a", in: database)
      #expect(try transaction.string(for: "a", in: database) == "new")
      #expect(try environment.string(for: "a", in: database) == nil)
    }
  }

  @Test func `a write can begin while the same thread reads`() throws {
    let snapshot = try environment.beginRead()
    try environment.write { try $0.put("new", for: "a", in: database) }
    #expect(try snapshot.string(for: "a", in: database) == nil)
  }

  @Test(.timeLimit(.minutes(10)))
  func `beginning a write inside a write throws wouldDeadlock instead of blocking`() throws {
    try environment.write { transaction in
      #expect(throws: LMDBError(.wouldDeadlock, operation: "mdb_txn_begin")) {
        _ = try environment.beginWrite()
      }
      try transaction.put("outer", for: "a", in: database)
    }
    try environment.write { try $0.put("later", for: "b", in: database) }
    #expect(try environment.string(for: "a", in: database) == "outer")
  }

  @Test func `keys are ordered by their bytes`() throws {
    let keys = ["b", "a", "aa", "\u{FF}", "Z", "0"]
    try environment.write { transaction in
      for key in keys { try transaction.put("", for: key, in: database) }
    }
    #expect(try environment.beginRead().keys(of: database) == ["0", "Z", "a", "aa", "b", "\u{FF}"])
  }

  @Test func `delete returns whether the key existed`() throws {
    try environment.write { try $0.put("", for: "a", in: database) }
    let answers = try environment.write { transaction in
      [try transaction.delete("a", in: database), try transaction.delete("a", in: database)]
    }
    #expect(answers == [true, false])
  }

  @Test(arguments: [0, 512]) func `a key that is empty or too long throws badValueSize`(
    count: Int
  ) throws {
    let key = String(repeating: "k", count: count)
    #expect(throws: LMDBError(.badValueSize, operation: "mdb_put")) {
      try environment.write { try $0.put("", for: key, in: database) }
    }
  }

  @Test func `each commit increments the transaction id`() throws {
    let before = try environment.lastTransactionID()
    try environment.write { try $0.put("", for: "a", in: database) }
    #expect(try environment.lastTransactionID() == before + 1)
  }

  @Test func `a database can be used after removeAll`() throws {
    try environment.write { try $0.put("", for: "a", in: database) }
    try environment.write { try $0.removeAll(in: database) }
    #expect(try environment.beginRead().count(of: database) == 0)
    try environment.write { try $0.put("", for: "b", in: database) }
    #expect(try environment.beginRead().count(of: database) == 1)
  }

  @Test func `opening a database with another key type throws incompatible`() throws {
    let other = try TemporaryFolder()
    do {
      let first = try Environment.open(other.path)
      _ = try first.database("numbers", keys: .integers)
    }
    let again = try Environment.open(other.path)
    #expect(throws: LMDBError(.incompatible, operation: "mdb_dbi_open")) {
      _ = try again.write { try $0.createDatabase("numbers", keys: .bytes) }
    }
  }
}
