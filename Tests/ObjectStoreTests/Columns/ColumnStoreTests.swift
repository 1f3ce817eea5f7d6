import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Tests how a store builds, keeps, checks and repairs columns.
@Suite struct ColumnStoreTests {
  private typealias Columnar = Meter<WithColumns>
  private typealias Earlier = Meter<BeforeColumns>

  let folder: TemporaryFolder
  private var path: String { folder.path("store") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func measures(_ id: Int) -> Measures {
    var measures = Measures()
    measures.tiny = Int8(id % 100)
    measures.small = id % 3 == 0 ? nil : Int16(id)
    measures.large = Int64(id)
    return measures
  }

  /// Creates a store with 1000 objects, of which 100 in the middle are deleted.
  private func makeStore<Kind: MeterKind>(_ model: Meter<Kind>.Type) throws -> Store {
    let store = try Store(at: path, models: [model])
    try store.write { tx in
      for id in 1...1_000 { try tx.insert(Meter<Kind>(id, measures(id))) }
      for id in 300..<400 { try tx.delete(model, key: id) }
    }
    return store
  }

  /// Changes a table directly in LMDB.
  private func edit(
    _ table: String,
    _ keys: Database.Keys = .integers,
    _ body: (inout WriteTransaction, Database) throws -> Void
  ) throws {
    let environment = try Environment.open(path)
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase(table, keys: keys)
    try body(&transaction, database)
    try transaction.commit()
  }

  private static let largeID = FieldSchema.id(forName: "large")
  private static let largeTable = TableName.column("Columnar", largeID)

  private func key(_ number: UInt64) -> [UInt8] {
    unsafe withUnsafeBytes(of: number) { unsafe Array($0) }
  }

  private func bytes(
    _ key: [UInt8],
    in table: Database,
    _ tx: borrowing WriteTransaction
  ) throws -> [UInt8]? {
    try tx.withValue(for: key.span, in: table) { value in
      guard let value else { return nil }
      return value.indices.map { value[$0] }
    }
  }

  // MARK: Damage

  @Test(arguments: [true, false])
  func `a chunk with objects that cannot exist is damaged`(isLast: Bool) throws {
    let store = try makeStore(Columnar.self)
    // The last chunk has 16 possible ids, and no chunk has more than 240 slots.
    let number = isLast ? ColumnChunk.number(of: .max) : 900
    let chunk = ColumnChunkBuilder(width: 8)
    for slot in isLast ? [239] : [3] {
      try unsafe withUnsafeBytes(of: 2_000 as Int64) { value throws(RecordError) in
        unsafe try chunk.set(.present(value), at: slot)
      }
    }
    var bytes = unsafe Array(chunk.bytes)
    if !isLast {
      for offset in [ColumnChunk.objectsOffset, ColumnChunk.valuesOffset] {
        bytes[offset + 31] = 0xFF
      }
    }
    let seed = ColumnChunk.seed(number: number, fieldID: Self.largeID)
    let checksum = unsafe bytes.withUnsafeBytes {
      unsafe RecordHeader.checksum(of: $0, seed: seed)
    }
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
    try edit(Self.largeTable) { tx, table in
      try tx.put(bytes.span, for: key(number).span, in: table)
    }
    let error = #expect(throws: StoreError.self) {
      _ = try store.read { try $0.fetch(Columnar.where { $0.large > 990 }) }
    }
    #expect(error?.code == .damaged)
    #expect(error?.message.contains("cannot exist") == true)
    #expect(try store.verify().problemCounts[.column, default: 0] > 0)
  }

  // MARK: Schema

  @Test func `a store describes its columns`() throws {
    _ = try makeStore(Earlier.self)
    #expect(try Store(at: path, models: [Earlier.self]).storedModels().first?.columns == [])
    _ = try Store(at: path, models: [Columnar.self])
    #expect(
      try Set(Store(at: path, models: []).storedModels().first?.columns ?? [])
        == Set(Columnar.schema.fields.filter(\.isColumnar).map(\.id))
    )
  }

  @Test func `a new column is built from the existing records`() throws {
    _ = try makeStore(Earlier.self)
    try Store(at: path, models: [OlderMeter.self]).write { try $0.insert(OlderMeter(2_000, "old")) }
    let store = try Store(at: path, models: [Columnar.self])
    try store.read { tx throws in
      let query = Columnar.where { $0.large > 990 }
      #expect(try "\(tx.explain(query))" == "columns (large) of 901")
      #expect(try tx.count(query) == 10)
      // The record of the older program has no value.
      #expect(try tx.count(Columnar.where { $0.tiny >= 0 }) == 900)
      #expect(try tx.count(Columnar.where { !($0.tiny >= 0) }) == 1)
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `a column of more chunks than one batch is built`() throws {
    let store = try Store(at: path, models: [Earlier.self])
    for part in 0..<13 {
      try store.write { tx in
        try tx.insert(contentsOf: (1...10_000).map { Earlier(part * 10_000 + $0) })
      }
    }
    let columns = try Store(at: path, models: [Columnar.self])
    #expect(try columns.read { try $0.count(Columnar.where { $0.tiny == 0 }) } == 130_000)
    #expect(
      try columns.statistics().models["Columnar"]?.columns[Self.largeID]?.entries == 130_000 / 240
        + 1
    )
  }

  @Test func `a program that does not know the columns maintains them`() throws {
    _ = try makeStore(Columnar.self)
    try Store(at: path, models: [OlderMeter.self]).write { tx in
      for id in 1..<200 { try tx.update(OlderMeter.self, key: id) { $0.text = "changed" } }
      for id in 200..<300 { try tx.delete(OlderMeter.self, key: id) }
      try tx.insert(OlderMeter(2_000, "new"))
    }
    let store = try Store(at: path, models: [Columnar.self])
    #expect(try store.verify().problems == [])
    #expect(try store.read { try $0.count(Columnar.where { $0.large < 500 }) } == 299)
  }

  @Test func `a program with the model but without the option keeps the columns`() throws {
    _ = try makeStore(Columnar.self)
    let store = try Store(at: path, models: [Earlier.self])
    try store.write { tx in
      for id in 1..<100 { try tx.update(Earlier.self, key: id) { $0.measures.large = 7 } }
    }
    #expect(try store.read { try $0.count(Earlier.where { $0.large == 7 }) } == 99)
    #expect(
      try store.read { try "\($0.explain(Earlier.where { $0.large == 7 }))" }.hasPrefix("columns")
    )
    #expect(try store.verify().problems == [])
  }

  @Test func `only a later schema version drops columns`() throws {
    _ = try makeStore(Columnar.self)
    _ = try Store(at: path, models: [Earlier.self])
    #expect(try Store(at: path, models: []).storedModels().first?.columns.isEmpty == false)
    let store = try Store(at: path, models: [Earlier.self], options: StoreOptions(schemaVersion: 2))
    #expect(try store.storedModels().first?.columns == [])
    #expect(
      try store.read { try "\($0.explain(Earlier.where { $0.large == 7 }))" }.hasPrefix("scan")
    )
    try edit(Self.largeTable) { tx, table throws in #expect(try tx.count(of: table) == 0) }
  }

  @Test func `a program without columns refuses the schema as too new`() throws {
    // Such a program decodes every description of the model as that of an index.
    let column = ColumnDescription(fieldID: 7, type: .signed(bits: 64))
    let error = unsafe column.encoded.withUnsafeBytes { bytes in
      #expect(throws: RecordError.self) {
        var reader = unsafe ByteReader(bytes)
        _ = try IndexDescription(id: column.id, encoded: &reader)
      }
    }
    #expect(error?.code == .unknownCoding)
    _ = try makeStore(Columnar.self)
    try edit("store", .bytes) { tx, table throws in
      let entry = Array(MetadataKey.index("Columnar", Self.column.id).utf8)
      #expect(try bytes(entry, in: table, tx) == Self.column.encoded)
    }
  }

  private static let column = ColumnDescription(fieldID: largeID, type: .signed(bits: 64))

  // MARK: Damage

  /// A damage of one column, and the number of problems that it causes.
  struct Damage: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var count: Int
    var change: @Sendable (inout [UInt8]) -> Void
    var isSealed = true
  }

  static let damages = [
    Damage(testDescription: "a wrong value", count: 1) { $0[68 + 8 * 10] ^= 1 },
    Damage(testDescription: "a missing value", count: 1) { chunk in
      chunk[36 + 1] &= ~4
      for index in 0..<8 { chunk[68 + 8 * 10 + index] = 0 }
    },
    Damage(testDescription: "a missing object", count: 1) { chunk in
      chunk[4 + 1] &= ~4
      chunk[36 + 1] &= ~4
      for index in 0..<8 { chunk[68 + 8 * 10 + index] = 0 }
    },
    // Objects 300 to 399, in slots 60 to 159, are deleted.
    Damage(testDescription: "a surplus object", count: 1) { $0[4 + 8] |= 1 },
    Damage(testDescription: "a value without an object", count: 1) { $0[36 + 8] |= 1 },
    Damage(testDescription: "bytes without a value", count: 1) { $0[68 + 8 * 100] = 1 },
    Damage(testDescription: "an object beyond the last slot", count: 1) { $0[4 + 31] |= 0x80 },
    Damage(testDescription: "a wrong checksum", count: 1, change: { $0[0] ^= 1 }, isSealed: false),
  ]

  @Test(arguments: damages)
  func `verification finds each deviation, and a rebuild repairs it`(damage: Damage) throws {
    _ = try makeStore(Columnar.self)
    try edit(Self.largeTable) { tx, table in
      let key = key(1)
      var chunk = try #require(try bytes(key, in: table, tx))
      damage.change(&chunk)
      if damage.isSealed {
        let seed = ColumnChunk.seed(number: 1, fieldID: Self.largeID)
        let checksum = UInt32(truncatingIfNeeded: XXHash64.hash(Array(chunk[4...]), seed: seed))
        for index in 0..<4 { chunk[index] = UInt8(truncatingIfNeeded: checksum >> (8 * index)) }
      }
      try tx.put(chunk.span, for: key.span, in: table)
    }
    let store = try Store(at: path, models: [Columnar.self])
    #expect(try store.verify().problemCounts == [.column: damage.count])
    try store.rebuildIndexes()
    #expect(try store.verify().problems == [])
  }

  @Test func `verification finds missing and surplus chunks`() throws {
    _ = try makeStore(Columnar.self)
    try edit(Self.largeTable) { tx, table in
      let chunk = try #require(try bytes(key(2), in: table, tx))
      try tx.delete(key(2).span, in: table)
      // The checksum of a chunk depends on its number.
      try tx.put(chunk.span, for: key(9).span, in: table)
    }
    let store = try Store(at: path, models: [Columnar.self])
    let report = try store.verify()
    #expect(report.problemCounts == [.column: 2])
    #expect(report.problems.compactMap(\.objectID).sorted() == [480, 2_160])
    // A damaged chunk never gives a wrong result.
    let error = #expect(throws: StoreError.self) {
      try store.read { try $0.count(Columnar.where { $0.tiny > 3 && $0.large > 0 }) }
    }
    #expect(error?.code == .damaged)
    try store.rebuildIndexes()
    #expect(try store.verify().problems == [])
  }

  @Test func `a repair keeps the columns and rebuilds them`() throws {
    _ = try makeStore(Columnar.self)
    try edit(Self.largeTable) { tx, table in try tx.removeAll(in: table) }
    let target = folder.path("new")
    let report = try Store.repair(at: path, into: target)
    #expect(report.isComplete)
    #expect(try Store.verify(at: target).problems == [])
    let store = try Store(at: target, models: [Columnar.self])
    let query = Columnar.where { $0.large > 990 }
    #expect(try store.read { try "\($0.explain(query))" } == "columns (large) of 900")
    #expect(try store.read { try $0.count(query) } == 10)
  }

  // MARK: Copies

  @Test func `backups, compaction, exports and imports keep the columns`() throws {
    let store = try makeStore(Columnar.self)
    let backup = folder.path("backup")
    try store.backup(to: backup)
    try Store.compact(at: backup)
    #expect(try Store.verify(at: backup).problems == [])
    let columns = try Set(store.storedModels().first?.columns ?? [])
    #expect(try Set(Store(at: backup, models: []).storedModels().first?.columns ?? []) == columns)

    try store.exportJSONLines(to: folder.path("all.jsonl"))
    let copy = try Store(at: folder.path("copy"), models: [])
    #expect(try copy.importJSONLines(from: folder.path("all.jsonl")).inserted == 900)
    #expect(try Set(copy.storedModels().first?.columns ?? []) == columns)
    #expect(try copy.verify().problems == [])
  }

  @Test func `a column has one entry for 240 object ids`() throws {
    let store = try makeStore(Columnar.self)
    let model = try #require(try store.statistics().models["Columnar"])
    #expect(model.columns.count == 14)
    #expect(model.columns[Self.largeID]?.entries == 5)
    try store.write { tx in for id in 240..<480 { try tx.delete(Columnar.self, key: id) } }
    #expect(try store.statistics().models["Columnar"]?.columns[Self.largeID]?.entries == 4)
    #expect(try store.verify().problems == [])
  }

  @Test func `a write of neighbors changes one entry of a column, and no other column`() throws {
    let store = try makeStore(Columnar.self)
    func chunks() throws -> [String: [[UInt8]]] {
      var all: [String: [[UInt8]]] = [:]
      let file = try DataFileReader(path: path + "/data.mdb")
      for (name, tree) in file.trees() where name.contains("/column/") {
        file.forEachEntry(of: tree, named: name) { _, value in
          all[name, default: []].append(value.indices.map { value[$0] })
        }
      }
      return all
    }
    let before = try chunks()
    try store.write { tx in
      for id in 500..<600 { try tx.edit(Columnar.self, key: id) { $0.set(\.large, to: 7) } }
      for id in 500..<600 { try tx.edit(Columnar.self, key: id) { $0.set(\.text, to: "other") } }
    }
    let after = try chunks()
    for (name, old) in before {
      let changed = zip(old, try #require(after[name])).count { $0 != $1 }
      #expect(changed == (name == Self.largeTable ? 1 : 0), "\(name)")
    }
  }
}
