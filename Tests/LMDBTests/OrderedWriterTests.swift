import TestSupport
import Testing

@testable import LMDB

/// Tests `OrderedWriter`, which writes keys in ascending order with one cursor.
@Suite struct OrderedWriterTests {
  let folder: TemporaryFolder
  let environment: Environment
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try Environment.open(folder.path)
    database = try environment.database("strings")
  }

  private func entries() throws -> [String: String] {
    let snapshot = try environment.beginRead()
    let keys = try snapshot.keys(of: database)
    try #require(keys == keys.sorted())
    return Dictionary(
      uniqueKeysWithValues: try keys.map { ($0, try snapshot.string(for: $0, in: database) ?? "") }
    )
  }

  @Test func `random ordered writes and deletions match a dictionary`() throws {
    var random = SplitMix64(seed: 11)
    var expected: [String: String] = [:]
    for round in 0..<40 {
      // The first rounds only append; later rounds replace values by ones of other sizes.
      let keys = (0..<Int.random(in: 1...900, using: &random)).map { number in
        round < 3
          ? 100_000 * (round + 1) + number : Int.random(in: 99_000...310_000, using: &random)
      }
      let deletes = round.isMultiple(of: 3)
      try environment.write { transaction in
        var writer = try OrderedStringWriter(database, in: transaction)
        for key in Set(keys).sorted().map(String.init) {
          if deletes, Int.random(in: 0..<4, using: &random) == 0 {
            let existed = try writer.delete(key)
            #expect(existed == (expected.removeValue(forKey: key) != nil))
          } else {
            let length = Int.random(in: 0...1_500, using: &random)
            let text = String(filledWith: "x", count: length) + "\(round)"
            try writer.put(text, for: key)
            expected[key] = text
          }
        }
      }
      try #require(try entries() == expected)
    }
    try environment.checkPages()
  }

  @Test func `keys before and after the existing entries are inserted in order`() throws {
    try environment.write { transaction in
      try transaction.put("old", for: "m", in: database)
      var writer = try OrderedStringWriter(database, in: transaction)
      for key in ["a", "m", "n", "z"] { try writer.put("new", for: key) }
    }
    #expect(try entries() == ["a": "new", "m": "new", "n": "new", "z": "new"])
  }

  @Test func `append returns false and writes nothing if the key is not the greatest`() throws {
    try environment.write { transaction in
      var writer = try OrderedStringWriter(database, in: transaction)
      for (key, isLast) in [("b", true), ("b", false), ("a", false), ("c", true)] {
        let isAppended = try writer.append("\(isLast)", for: key)
        #expect(isAppended == isLast)
      }
    }
    #expect(try entries() == ["b": "true", "c": "true"])
  }

  @Test func `an empty key throws badValueSize`() throws {
    #expect(throws: LMDBError(.badValueSize, operation: "mdb_cursor_put")) {
      try environment.write { transaction in
        var writer = try OrderedStringWriter(database, in: transaction)
        try writer.put("1", for: "")
      }
    }
    #expect(try entries() == [:])
  }

  @Test(.timeLimit(.minutes(10))) func `a full map throws mapFull, rolls back and grows`() throws {
    let small = try TemporaryFolder()
    let environment = try Environment.open(small.path, options: .init(mapSize: 1 << 20))
    let database = try environment.database("strings")
    let text = String(filledWith: "x", count: 2 << 20)
    let put = {
      try environment.write { transaction in
        var writer = try OrderedStringWriter(database, in: transaction)
        try writer.put("1", for: "a")
        try writer.put(text, for: "b")
      }
    }
    #expect(throws: LMDBError(.mapFull, operation: "mdb_cursor_put")) { try put() }
    #expect(try environment.string(for: "a", in: database) == nil)
    // Each write that fails with mapFull doubles the map.
    for _ in 0..<3 where (try? put()) != nil { break }
    #expect(try environment.string(for: "b", in: database) == text)
  }
}

/// An `OrderedWriter` of strings.
@safe  // A test uses the writer only inside the transaction that it was created in.
private struct OrderedStringWriter: ~Copyable {
  private var writer: OrderedWriter

  init(_ database: Database, in transaction: borrowing WriteTransaction) throws {
    unsafe writer = unsafe try OrderedWriter(
      database,
      in: WriteTransactionReference(transaction)
    )
  }

  mutating func put(_ text: String, for key: String) throws {
    let value = Array(text.utf8)
    try unsafe Array(key.utf8).withUnsafeBytes { key in
      try unsafe value.withUnsafeBytes { unsafe try writer.put($0, for: key) }
    }
  }

  mutating func append(_ text: String, for key: String) throws -> Bool {
    let value = Array(text.utf8)
    return try unsafe Array(key.utf8).withUnsafeBytes { key in
      try unsafe value.withUnsafeBytes { unsafe try writer.append($0, for: key) }
    }
  }

  mutating func delete(_ key: String) throws -> Bool {
    try unsafe Array(key.utf8).withUnsafeBytes { unsafe try writer.delete($0) }
  }
}
