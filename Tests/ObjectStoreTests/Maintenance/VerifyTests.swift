import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct VerifyTests {
  private typealias Kind = VerificationReport.Problem.Kind

  @Test func `verification of an intact store covers all objects and pages`() throws {
    let damaged = try DamagedStore()
    let store = try damaged.open()
    var last: Store.VerificationProgress?
    let report = try store.verify { last = $0 }
    #expect(report.isValid)
    #expect(report.problems == [])
    #expect(report.models["Note"]?.objects == 360)
    #expect(report.models["Note"]?.validObjects == 360)
    // The object that the older program wrote has no hot part.
    #expect(report.models["Note"]?.hotParts == 359)
    #expect(report.models["Ticket"]?.objects == 400)
    #expect(report.models["Ticket"]?.indexEntries == 800)
    let tags = (1...400).filter { $0 % 10 != 0 }
      .reduce(0) { $0 + Set(["t\($1 % 3)", "t\($1 % 5)"]).count }
    #expect(report.models["Note"]?.indexEntries == 360 + tags)
    #expect(report.pages > 150)
    #expect(last == .init(objects: 760, totalObjects: 760, problems: 0))
  }

  @Test func `an empty store is valid`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [NewNote.self])
    let report = try store.verify()
    #expect(report.isValid)
    #expect(report.models["Note"] == .init())
  }

  /// One kind of damage, and the number of problems that it must cause.
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var table: String
    var keys: Database.Keys
    var kind: VerificationReport.Problem.Kind
    var count: Int
    /// Damages the table, given an entry in its middle and the key of the next entry.
    var damage:
      @Sendable (inout WriteTransaction, Database, [UInt8], [UInt8], [UInt8]) throws -> Void
  }

  static let cases = [
    Case(
      testDescription: "a flipped bit of a record",
      table: "Ticket",
      keys: .integers,
      kind: .record,
      count: 1
    ) { tx, table, key, value, _ in
      var value = value
      value[value.count - 1] ^= 1
      try tx.put(value.span, for: key.span, in: table)
    },
    Case(
      testDescription: "a record under the id of another object",
      table: "Ticket",
      keys: .integers,
      kind: .record,
      count: 1
    ) { tx, table, key, value, other in
      try tx.put(value.span, for: other.span, in: table)
    },
    Case(
      testDescription: "a truncated record",
      table: "Ticket",
      keys: .integers,
      kind: .record,
      count: 1
    ) { tx, table, key, value, _ in
      try tx.put(Array(value.prefix(5)).span, for: key.span, in: table)
    },
    Case(
      testDescription: "a missing record",
      table: "Ticket",
      keys: .integers,
      kind: .index,
      count: 2
    ) { tx, table, key, _, _ in
      try tx.delete(key.span, in: table)
    },
    Case(
      testDescription: "a missing chunk of hot parts",
      table: "Note/hot",
      keys: .integers,
      kind: .hotPart,
      count: 29
    ) { tx, table, key, _, _ in
      try tx.delete(key.span, in: table)
    },
    Case(
      testDescription: "a flipped bit in one part of a chunk",
      table: "Note/hot",
      keys: .integers,
      kind: .hotPart,
      count: 2
    ) { tx, table, key, value, _ in
      var value = value
      value[20] ^= 64
      try tx.put(value.span, for: key.span, in: table)
    },
    Case(
      testDescription: "a flipped bit in the checksum of a chunk",
      table: "Note/hot",
      keys: .integers,
      kind: .hotPart,
      count: 1
    ) { tx, table, key, value, _ in
      var value = value
      value[2] ^= 64
      try tx.put(value.span, for: key.span, in: table)
    },
    Case(
      testDescription: "a hot part with a wrong checksum in a chunk with a correct one",
      table: "Note/hot",
      keys: .integers,
      kind: .hotPart,
      count: 1
    ) { tx, table, key, value, _ in
      var chunk = ByteWriter()
      chunk.write(value)
      chunk.patch(UInt32.max, at: HotChunk.headerSize + 4 * 30)
      let number = key.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      chunk.patch(unsafe RecordHeader.checksum(of: chunk.buffer, seed: number), at: 0)
      try tx.put(chunk.bytes.span, for: key.span, in: table)
    },
    Case(
      testDescription: "a missing primary key entry",
      table: "Ticket/keys",
      keys: .integers,
      kind: .primaryKey,
      count: 1
    ) { tx, table, key, _, _ in
      try tx.delete(key.span, in: table)
    },
    Case(
      testDescription: "a primary key entry that also lists another object",
      table: "Ticket/keys",
      keys: .integers,
      kind: .primaryKey,
      count: 1
    ) { tx, table, key, value, _ in
      let others: [UInt8] = value + [1, 0, 0, 0, 0, 0, 0, 0]
      try tx.put(others.span, for: key.span, in: table)
    },
    Case(
      testDescription: "a primary key entry that lists only another object",
      table: "Ticket/keys",
      keys: .integers,
      kind: .primaryKey,
      count: 2
    ) { tx, table, key, _, _ in
      let other: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]
      try tx.put(other.span, for: key.span, in: table)
    },
    Case(
      testDescription: "a missing index entry",
      table: "Note/index/\(FieldSchema.id(forName: "tags"))",
      keys: .bytes,
      kind: .index,
      count: 1
    ) { tx, table, key, _, _ in
      try tx.delete(key.span, in: table)
    },
    Case(
      testDescription: "an index entry without an object",
      table: "Note/index/\(FieldSchema.id(forName: "stars"))",
      keys: .bytes,
      kind: .index,
      count: 1
    ) { tx, table, key, _, _ in
      var other = key
      other[3] ^= 1
      try tx.put(other.span, in: table)
    },
    Case(
      testDescription: "an index entry with a value",
      table: "Ticket/index/\(FieldSchema.id(forName: "seat"))",
      keys: .bytes,
      kind: .index,
      count: 1
    ) { tx, table, key, _, _ in
      try tx.put(key.span, for: key.span, in: table)
    },
  ]

  @Test(arguments: cases)
  func `each kind of damage causes exactly its own problems`(damage: Case) throws {
    let damaged = try DamagedStore()
    let entries = try damaged.entries(damage.table, damage.keys)
    let (key, value) = entries[entries.count / 2]
    try damaged.edit(damage.table, damage.keys) { tx, table in
      try damage.damage(&tx, table, key, value, entries[entries.count / 2 + 1].key)
    }
    let report = try damaged.open().verify()
    #expect(report.problemCounts[damage.kind] == damage.count, "\(report.problems)")
    #expect(report.problems.count == report.problemCount)
    // A missing record leaves its primary key entry without an object.
    let others: [VerificationReport.Problem.Kind: Int] =
      damage.testDescription == "a missing record" ? [.primaryKey: 1] : [:]
    #expect(report.problemCounts.filter { $0.key != damage.kind } == others)
  }

  @Test func `duplicate values in a unique index are reported`() throws {
    let damaged = try DamagedStore()
    let id = FieldSchema.id(forName: "stars")
    try damaged.edit("store", .bytes) { tx, table in
      let key = Array("index/Note/\(id)".utf8)
      let description = IndexDescription(
        parts: [.init(fieldID: id, type: .signed(bits: 64))],
        isUnique: true
      )
      try tx.put(description.encoded.span, for: key.span, in: table)
    }
    let report = try damaged.open().verify(limit: 3)
    // 360 objects have 7 different values, and one object of the older program has nil.
    #expect(report.problemCounts == [.uniqueness: 353])
    #expect(report.problems.count == 3)
    #expect(report.problemCount == 353)
    #expect(!report.isValid)
  }

  @Test(arguments: [
    "layout/Note/1", "seed", "format", "index/Ticket/\(FieldSchema.id(forName: "seat"))",
  ])
  func `a missing or truncated schema entry is reported`(entry: String) throws {
    for isMissing in [true, false] {
      let damaged = try DamagedStore()
      let store = try damaged.open()
      try damaged.edit("store", .bytes) { tx, table in
        let key = Array(entry.utf8)
        if isMissing {
          try tx.delete(key.span, in: table)
        } else {
          try tx.put([1].span, for: key.span, in: table)
        }
      }
      let report = try store.verify()
      // The table of an index without a description is ignored.
      let isReported = !(isMissing && entry.hasPrefix("index"))
      #expect((report.problemCount > 0) == isReported, "\(entry) \(isMissing)")
    }
  }

  @Test func `cancelling the task or throwing from the progress closure stops verification`()
    async throws
  {
    let damaged = try DamagedStore()
    let store = try damaged.open()
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try store.verify()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    struct Stop: Error {}
    #expect(throws: Stop.self) { try store.verify { _ in throw Stop() } }
  }

  @Test func `flipped bytes anywhere in the file never crash verification`() throws {
    let damaged = try DamagedStore()
    let url = URL(filePath: damaged.path + "/data.mdb")
    let bytes = try Data(contentsOf: url)
    var generator = SplitMix64(seed: 5)
    var found = 0
    for round in 0..<60 {
      let copy = damaged.folder.path("copy\(round)")
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
      var changed = bytes
      let page = Int.random(in: 0..<bytes.count / 4_096, using: &generator) * 4_096
      for _ in 0..<4 {
        // Changes page headers more often than page contents.
        let range = Bool.random(using: &generator) ? 0..<24 : 0..<4_096
        changed[page + Int.random(in: range, using: &generator)] ^=
          UInt8.random(in: 1...255, using: &generator)
      }
      try changed.write(to: URL(filePath: copy + "/data.mdb"))
      let report = try Store.verify(at: copy)
      if !report.isValid { found += 1 }
    }
    #expect(found > 20)
  }
}
