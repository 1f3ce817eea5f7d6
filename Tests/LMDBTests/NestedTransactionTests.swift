import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct NestedTransactionTests {
  private struct Failure: Error {}

  let folder: TemporaryFolder
  let environment: Environment
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try Environment.open(folder.path)
    database = try environment.database("strings")
  }

  private func keys() throws -> [String] {
    try environment.beginRead().keys(of: database)
  }

  /// Runs `body` in a nested transaction that is rolled back.
  private func rollBack(
    in transaction: inout WriteTransaction,
    _ body: (inout WriteTransaction) throws -> Void
  ) {
    #expect(throws: Failure.self) {
      try transaction.nested { child in
        try body(&child)
        throw Failure()
      }
    }
  }

  @Test func `writes of a nested transaction become part of the outer transaction`() throws {
    let answer = try environment.write { transaction in
      try transaction.put("outer", for: "a", in: database)
      let answer = try transaction.nested { child in
        #expect(try child.string(for: "a", in: database) == "outer")
        try child.put("inner", for: "a", in: database)
        try child.put("inner", for: "b", in: database)
        #expect(try child.string(for: "a", in: database) == "inner")
        return 42
      }
      #expect(try transaction.string(for: "a", in: database) == "inner")
      #expect(try environment.string(for: "a", in: database) == nil)
      return answer
    }
    #expect(answer == 42)
    #expect(try keys() == ["a", "b"])
  }

  @Test func `a nested transaction that throws rolls back only its own writes`() throws {
    try environment.write { try $0.put("old", for: "kept", in: database) }
    try environment.write { transaction in
      try transaction.put("outer", for: "a", in: database)
      rollBack(in: &transaction) { child in
        try child.put("inner", for: "a", in: database)
        try child.put("inner", for: "b", in: database)
        try child.delete("kept", in: database)
        #expect(try child.string(for: "kept", in: database) == nil)
      }
      #expect(try transaction.string(for: "a", in: database) == "outer")
      #expect(try transaction.string(for: "b", in: database) == nil)
      try transaction.put("outer", for: "c", in: database)
      let existed = try transaction.nested { try $0.delete("c", in: database) }
      #expect(existed)
    }
    #expect(try keys() == ["a", "kept"])
    try environment.checkPages()
  }

  @Test func `rolling back the outer transaction discards committed nested transactions`() throws {
    #expect(throws: Failure.self) {
      try environment.write { transaction in
        try transaction.nested { try $0.put("inner", for: "a", in: database) }
        throw Failure()
      }
    }
    #expect(try keys() == [])
  }

  @Test func `only the writes of transactions that succeeded at every level are kept`() throws {
    /// Writes one key per level, and throws at each level whose bit is set in `failing`.
    func descend(
      _ transaction: inout WriteTransaction,
      _ depth: Int,
      failing: Int
    ) throws {
      try transaction.put("", for: "\(depth)", in: database)
      if depth < 5 {
        do {
          try transaction.nested { try descend(&$0, depth + 1, failing: failing) }
        } catch is Failure {}
      }
      if failing & 1 << depth != 0 { throw Failure() }
    }
    for failing in 0..<64 {
      try environment.write { try $0.removeAll(in: database) }
      do {
        try environment.write { try descend(&$0, 0, failing: failing) }
      } catch is Failure {}
      let kept = (0..<6).prefix { failing & 1 << $0 == 0 }
      #expect(try keys() == kept.map { "\($0)" })
    }
  }

  @Test func `transactions can be nested 100 levels deep`() throws {
    func descend(_ transaction: inout WriteTransaction, _ depth: Int) throws {
      try transaction.put("", for: "\(1_000 + depth)", in: database)
      if depth < 100 { try transaction.nested { try descend(&$0, depth + 1) } }
    }
    try environment.write { try descend(&$0, 0) }
    #expect(try keys().count == 101)
  }

  @Test(.timeLimit(.minutes(10)))
  func `nested transactions of 50,000 writes commit and roll back`() throws {
    let count = 50_000
    let value = String(filledWith: "x", count: 200)
    try environment.write { transaction in
      for number in stride(from: 0, to: count, by: 2) {
        try transaction.put("outer", for: "\(number)", in: database)
      }
      rollBack(in: &transaction) { child in
        for number in 0..<count { try child.put(value, for: "\(number)", in: database) }
        for number in stride(from: 0, to: count, by: 3) {
          try child.delete("\(number)", in: database)
        }
      }
      #expect(try transaction.count(of: database) == count / 2)
      try transaction.nested { child in
        for number in stride(from: 1, to: count, by: 2) {
          try child.put(value, for: "\(number)", in: database)
        }
        try child.nested { grandchild in
          for number in stride(from: 0, to: count, by: 10) {
            try grandchild.delete("\(number)", in: database)
          }
        }
      }
    }
    let snapshot = try environment.beginRead()
    #expect(try snapshot.count(of: database) == count * 9 / 10)
    #expect(try snapshot.string(for: "2", in: database) == "outer")
    #expect(try snapshot.string(for: "3", in: database) == value)
    #expect(try snapshot.string(for: "10", in: database) == nil)
    try environment.checkPages()
  }

  @Test func `random nested transactions match a dictionary`() throws {
    var generator = SplitMix64(seed: 7)
    var model: [String: String] = [:]

    func run(_ transaction: inout WriteTransaction, _ depth: Int) throws {
      for _ in 0..<Int.random(in: 1...60, using: &generator) {
        let key = "\(Int.random(in: 0..<300, using: &generator))"
        switch Int.random(in: 0..<20, using: &generator) {
        case 0 where depth < 4:
          let before = model
          do {
            try transaction.nested { try run(&$0, depth + 1) }
          } catch is Failure {
            model = before
          }
        case 0..<6:
          let existed = try transaction.delete(key, in: database)
          #expect(existed == (model.removeValue(forKey: key) != nil))
        default:
          // A few large values use overflow pages.
          let isLarge = Int.random(in: 0..<20, using: &generator) == 0
          let size = Int.random(in: isLarge ? 2_000..<3_000 : 0..<60, using: &generator)
          let text = String(filledWith: "x", count: size)
          try transaction.put(text, for: key, in: database)
          model[key] = text
        }
      }
      if Int.random(in: 0..<3, using: &generator) == 0 { throw Failure() }
    }

    for _ in 0..<60 {
      let before = model
      do {
        try environment.write { try run(&$0, 0) }
      } catch is Failure {
        model = before
      }
      let snapshot = try environment.beginRead()
      let keys = try snapshot.keys(of: database)
      #expect(keys == model.keys.sorted())
      let differing = try keys.filter { try snapshot.string(for: $0, in: database) != model[$0] }
      #expect(differing == [])
    }
    try environment.checkPages()
  }

  @Test func `a database created in a nested transaction exists only if it commits`() throws {
    let made = try environment.write { transaction in
      rollBack(in: &transaction) { child in
        let database = try child.createDatabase("undone")
        try child.put("", for: "a", in: database)
      }
      #expect(try transaction.openDatabase("undone") == nil)
      return try transaction.nested { child in
        let database = try child.createDatabase("made")
        try child.put("inner", for: "a", in: database)
        return database
      }
    }
    #expect(try environment.string(for: "a", in: made) == "inner")
    #expect(try environment.beginRead().openDatabase("undone") == nil)
    let again = try environment.database("undone")
    try environment.write { try $0.put("later", for: "a", in: again) }
    #expect(try environment.string(for: "a", in: again) == "later")
    #expect(try environment.string(for: "a", in: made) == "inner")
  }

  @Test func `rolling back a nested removeAll restores the entries`() throws {
    try environment.write { transaction in
      for number in 0..<1_000 { try transaction.put("", for: "\(number)", in: database) }
      rollBack(in: &transaction) { try $0.removeAll(in: database) }
      #expect(try transaction.count(of: database) == 1_000)
    }
    #expect(try keys().count == 1_000)
  }

  @Test func `hasChanges is set only by a nested transaction that commits`() throws {
    let answers = try environment.write { transaction -> [Bool] in
      var answers = [transaction.hasChanges]
      rollBack(in: &transaction) { try $0.put("", for: "a", in: database) }
      answers.append(transaction.hasChanges)
      try transaction.nested { _ = try $0.string(for: "a", in: database) }
      answers.append(transaction.hasChanges)
      try transaction.nested { try $0.put("", for: "a", in: database) }
      return answers + [transaction.hasChanges]
    }
    #expect(answers == [false, false, false, true])
  }

  @Test func `beginning a write inside a nested transaction throws wouldDeadlock`() throws {
    try environment.write { transaction in
      try transaction.nested { child in
        #expect(throws: LMDBError(.wouldDeadlock, operation: "mdb_txn_begin")) {
          _ = try environment.beginWrite()
        }
        try child.put("inner", for: "a", in: database)
      }
      rollBack(in: &transaction) { _ in }
      // The thread still owns the outer transaction.
      #expect(throws: LMDBError(.wouldDeadlock, operation: "mdb_txn_begin")) {
        _ = try environment.beginWrite()
      }
    }
    try environment.write { try $0.put("later", for: "b", in: database) }
    #expect(try keys() == ["a", "b"])
  }

  @Test func `a nested transaction that ignores a failed write cannot commit`()
    throws
  {
    let small = try TemporaryFolder()
    let environment = try Environment.open(
      small.path,
      options: EnvironmentOptions(mapSize: 1 << 20)
    )
    let database = try environment.database("strings")
    let large = String(filledWith: "x", count: 2 << 20)
    try environment.write { transaction in
      try transaction.put("outer", for: "a", in: database)
      let error = #expect(throws: LMDBError.self) {
        try transaction.nested { child in
          try child.put("inner", for: "b", in: database)
          #expect(throws: LMDBError(.mapFull, operation: "mdb_put")) {
            try child.put(large, for: "c", in: database)
          }
        }
      }
      #expect(error?.code == .badTransaction)
      try transaction.put("outer", for: "d", in: database)
    }
    #expect(try environment.beginRead().keys(of: database) == ["a", "d"])
    // The failure requests a larger map for the next write.
    #expect(try environment.statistics().mapSize == 1 << 20)
    try environment.write { try $0.put("", for: "e", in: database) }
    #expect(try environment.statistics().mapSize == 2 << 20)
  }

  @Test(.timeLimit(.minutes(10)))
  func `SIGKILL inside a nested transaction discards the whole transaction`() async throws {
    try environment.write { try $0.put("old", for: "a", in: database) }
    let path = folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let environment = try Environment.open(path)
      let database = try environment.database("strings")
      try environment.write { transaction in
        try transaction.put("outer", for: "a", in: database)
        try transaction.nested { try $0.put("inner", for: "b", in: database) }
        try transaction.nested { child in
          for number in 0..<20_000 { try child.put("x", for: "\(number)", in: database) }
          kill(getpid(), SIGKILL)
        }
      }
    }
    try environment.write { try $0.put("later", for: "c", in: database) }
    #expect(try keys() == ["a", "c"])
    #expect(try environment.string(for: "a", in: database) == "old")
    try environment.checkPages()
  }
}
