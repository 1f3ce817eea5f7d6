import TestSupport
import Testing

@testable import LMDB

/// Writes with one cursor that goes from entry to entry.
@Suite struct OrderedWriterTests {
  let folder: TemporaryFolder
  let environment: Environment
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try Environment.open(folder.path)
    database = try environment.database("texts")
  }

  private func entries() throws -> [String: String] {
    let snapshot = try environment.beginRead()
    let keys = try snapshot.keys(of: database)
    try #require(keys == keys.sorted())
    return Dictionary(
      uniqueKeysWithValues: try keys.map { ($0, try snapshot.text(for: $0, in: database) ?? "") }
    )
  }

  @Test func `rounds of changes leave what a dictionary has`() throws {
    var random = SplitMix64(seed: 11)
    var expected: [String: String] = [:]
    for round in 0..<40 {
      // The first rounds only append; later ones meet what is there, of other sizes.
      let keys = (0..<Int.random(in: 1...900, using: &random)).map { number in
        round < 3
          ? 100_000 * (round + 1) + number : Int.random(in: 99_000...310_000, using: &random)
      }
      let deletes = round.isMultiple(of: 3)
      try environment.write { transaction in
        var writer = try OrderedTexts(database, in: transaction)
        for key in Set(keys).sorted().map(String.init) {
          if deletes, Int.random(in: 0..<4, using: &random) == 0 {
            let wasThere = try writer.delete(key)
            #expect(wasThere == (expected.removeValue(forKey: key) != nil))
          } else {
            let length = Int.random(in: 0...1_500, using: &random)
            let text = String(repeating: "x", count: length) + "\(round)"
            try writer.put(text, for: key)
            expected[key] = text
          }
        }
      }
      try #require(try entries() == expected)
    }
    try environment.checkPages()
  }

  @Test func `what lies behind the last entry and before it goes to its place`() throws {
    try environment.write { transaction in
      try transaction.put("old", for: "m", in: database)
      var writer = try OrderedTexts(database, in: transaction)
      for key in ["a", "m", "n", "z"] { try writer.put("new", for: key) }
    }
    #expect(try entries() == ["a": "new", "m": "new", "n": "new", "z": "new"])
  }

  @Test func `an append that is not the last entry writes nothing`() throws {
    try environment.write { transaction in
      var writer = try OrderedTexts(database, in: transaction)
      for (key, isLast) in [("b", true), ("b", false), ("a", false), ("c", true)] {
        let isAppended = try writer.append("\(isLast)", for: key)
        #expect(isAppended == isLast)
      }
    }
    #expect(try entries() == ["b": "true", "c": "true"])
  }

  @Test func `a key of no bytes is refused`() throws {
    #expect(throws: LMDBError(.badValueSize, operation: "mdb_cursor_put")) {
      try environment.write { transaction in
        var writer = try OrderedTexts(database, in: transaction)
        try writer.put("1", for: "")
      }
    }
    #expect(try entries() == [:])
  }

  @Test(.timeLimit(.minutes(5))) func `a full map says so, leaves nothing and grows`() throws {
    let small = try TemporaryFolder()
    let environment = try Environment.open(small.path, options: .init(mapSize: 1 << 20))
    let database = try environment.database("texts")
    let text = String(repeating: "x", count: 2 << 20)
    let put = {
      try environment.write { transaction in
        var writer = try OrderedTexts(database, in: transaction)
        try writer.put("1", for: "a")
        try writer.put(text, for: "b")
      }
    }
    #expect(throws: LMDBError(.mapFull, operation: "mdb_cursor_put")) { try put() }
    #expect(try environment.text(for: "a", in: database) == nil)
    // Each write that finds it full doubles the map.
    for _ in 0..<3 where (try? put()) != nil { break }
    #expect(try environment.text(for: "b", in: database) == text)
  }
}

/// The writer, of texts.
@safe  // Although it holds the writer: a test uses it inside the write that it is made in.
private struct OrderedTexts: ~Copyable {
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
