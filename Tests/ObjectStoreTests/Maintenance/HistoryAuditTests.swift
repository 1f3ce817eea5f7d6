import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct HistoryAuditTests {
  /// One kind of damage to an entry in the middle of the history.
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var damage: @Sendable ([UInt8]) -> [UInt8]?
  }

  static let cases = [
    Case(testDescription: "a truncated entry") { Array($0.dropLast()) },
    Case(testDescription: "an entry without a header") { Array($0.prefix(7)) },
    Case(testDescription: "an empty entry") { _ in [] },
    Case(testDescription: "a changed sum") { bytes in
      var bytes = bytes
      bytes[6] ^= 1
      return bytes
    },
    Case(testDescription: "an invalid kind of change") { bytes in
      var bytes = bytes
      // The header is followed by the length of the name, the name, the layout and the count.
      bytes[HistoryEntry.headerSize + 1 + "Ticket".utf8.count + 2] = 9
      return bytes
    },
    Case(testDescription: "a missing entry") { _ in nil },
  ]

  private func makeStore(_ folder: TemporaryFolder) throws -> Store {
    let store = try Store(at: folder.path("store"), models: [Ticket.self])
    for id in 1...9 {
      try store.write(durability: .deferred) { tx in
        try tx.insert(Ticket(id: id, seat: "\(id)", row: id))
      }
    }
    return store
  }

  @Test(arguments: cases)
  func `verification reports a damaged history entry exactly once`(damage: Case) throws {
    let folder = try TemporaryFolder()
    let store = try makeStore(folder)
    #expect(try store.verify().isValid)
    var transaction = try store.environment.beginWrite()
    let table = try transaction.createDatabase(TableName.history, keys: .integers)
    // The fifth of the nine commits of `makeStore`.
    let key = HistoryTable.Key(number: transaction.id - 5).bytes
    let value = try #require(try transaction.withValue(for: key, in: table))
    if let changed = damage.damage(value) {
      try transaction.put(changed.span, for: key.span, in: table)
    } else {
      try transaction.delete(key.span, in: table)
    }
    try transaction.commit()
    let report = try store.verify()
    #expect(report.problemCounts == [.history: 1], "\(report.problems)")
    #expect(report.models["Ticket"]?.validObjects == 9)
  }

  @Test func `verification reports a missing piece of a history entry`() throws {
    for piece in 0..<3 {
      let folder = try TemporaryFolder()
      let store = try Store(at: folder.path("store"), models: [Ticket.self])
      try store.write { tx in
        for id in 1...2_000 { try tx.insert(Ticket(id: id, seat: "\(id)", row: id)) }
      }
      #expect(try store.verify().isValid)
      var transaction = try store.environment.beginWrite()
      let table = try transaction.createDatabase(TableName.history, keys: .integers)
      let key = HistoryTable.Key(number: transaction.id - 1, piece: piece).bytes
      try #require(try transaction.withValue(for: key, in: table) != nil)
      try transaction.delete(key.span, in: table)
      try transaction.commit()
      #expect(try store.verify().problemCounts[.history] != nil)
      #expect(try store.verify().models["Ticket"]?.validObjects == 2_000)
    }
  }

  @Test func `verification reports a missing history floor`() throws {
    let folder = try TemporaryFolder()
    let store = try makeStore(folder)
    var transaction = try store.environment.beginWrite()
    let table = try transaction.createDatabase(TableName.history, keys: .integers)
    try transaction.delete([UInt8](repeating: 0, count: 8).span, in: table)
    try transaction.commit()
    #expect(try store.verify().problemCounts == [.history: 1])
  }

  @Test func `a trimmed or disabled history is valid`() throws {
    let folder = try TemporaryFolder()
    _ = try makeStore(folder)
    for limit in [HistoryLimit(commits: 3, byteCount: 200), .off, .standard] {
      let store = try Store(
        at: folder.path("store"),
        models: [Ticket.self],
        options: StoreOptions(historyLimit: limit)
      )
      for row in 0..<6 {
        try store.write(durability: .deferred) { tx in
          _ = try tx.upsert(Ticket(id: 1, seat: "1", row: row + limit.commits))
        }
      }
      #expect(try store.verify().isValid)
    }
  }
}

extension HistoryTable.Key {
  fileprivate var bytes: [UInt8] { unsafe withUnsafeBytes(of: rawValue) { unsafe Array($0) } }
}

extension WriteTransaction {
  /// Returns a copy of the value of a key.
  fileprivate borrowing func withValue(for key: [UInt8], in table: Database) throws -> [UInt8]? {
    try unsafe key.withUnsafeBytes { key in
      unsafe try value(for: key, in: table).map { unsafe Array($0) }
    }
  }
}
