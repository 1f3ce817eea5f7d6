import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

/// Tests references in stores that programs of different versions use.
@Suite struct ReferenceVersionTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let a = Reference<City>("a")
  private static let b = Reference<City>("b")

  @Test func `opening a model also opens the models to which it refers`() throws {
    let store = try folder.open(House<Deny>.self)
    try store.write { tx in try tx.insert(City("a")) }
    #expect(try store.read { try $0.count(City.all) } == 1)
  }

  @Test func `a program without a cascading model cannot delete the target`() throws {
    try folder.open(House<Cascade>.self, House<Keep>.self).write { tx in
      for name in ["a", "b", "c"] { try tx.insert(City(name)) }
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
      try tx.insert(House<Keep>(id: 1, city: Self.b))
    }
    let other = try folder.open(City.self)
    let error = try #require(throws: StoreError.self) {
      try other.write { tx in _ = try tx.delete(City.self, key: "a") }
    }
    #expect(error.code == .referenced)
    #expect(error.message.contains("House cascade refer to it in city; open the store with"))
    try other.write { tx in
      _ = try tx.delete(City.self, key: "b")
      _ = try tx.delete(City.self, key: "c")
    }
    #expect(try other.read { try $0.fetch(City.all) } == [City("a")])
  }

  @Test func `a rule added by another program applies to an open store`() throws {
    let other = try folder.open(City.self)
    try other.write { tx in try tx.insert(City("a")) }
    try folder.open(House<Cascade>.self).write { tx in
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
    }
    let error = try #require(throws: StoreError.self) {
      try other.write { tx in _ = try tx.delete(City.self, key: "a") }
    }
    #expect(error.code == .referenced)
  }

  @Test func `a rule applies to programs that do not know the field`() throws {
    try folder.open(Visit<Cascade>.self, Visit<Nullify>.self).write { tx in
      for name in ["a", "b"] { try tx.insert(City(name)) }
      try tx.insert(Visit<Cascade>(id: 1, list: [Self.a]))
      try tx.insert(Visit<Nullify>(id: 1, list: [Self.b]))
    }
    let old = try folder.open(City.self, OldVisit<Cascade>.self, OldVisit<Nullify>.self)
    try old.write { tx in
      _ = try tx.update(OldVisit<Cascade>.self, key: 1) { $0.text = "old" }
      _ = try tx.delete(City.self, key: "a")
    }
    #expect(try old.read { try $0.count(OldVisit<Cascade>.all) } == 0)
    let error = try #require(throws: StoreError.self) {
      try old.write { tx in _ = try tx.delete(City.self, key: "b") }
    }
    #expect(error.code == .referenced)
  }

  @Test func `only a program that knows all reference fields can nullify them`() throws {
    try folder.open(Visit<Nullify>.self).write { tx in
      try tx.insert(City("a"))
      try tx.insert(Visit<Nullify>(id: 1, one: Self.a, list: [Self.a]))
    }
    try folder.open(ListVisit.self).write { tx in
      _ = try tx.update(ListVisit.self, key: 1) { $0.tag = 7 }
    }
    // The older program cannot nullify `one`, which it does not know, so its deletion is refused.
    let error = #expect(throws: StoreError.self) {
      try folder.open(ListVisit.self).write { tx in _ = try tx.delete(City.self, key: "a") }
    }
    #expect(error?.code == .referenced)
    try folder.open(Visit<Nullify>.self).write { tx in _ = try tx.delete(City.self, key: "a") }
    let visit = try folder.open(Visit<Nullify>.self).read {
      try $0.find(Visit<Nullify>.self, key: 1)
    }
    #expect(visit == Visit(id: 1))
    let other = try folder.open(ListVisit.self).read { try $0.find(ListVisit.self, key: 1) }
    #expect(other?.tag == 7 && other?.list == [])
  }

  @Test func `a string field becomes a reference without a migration`() throws {
    try folder.open(OldHouse.self).write { tx in
      try tx.insert(OldHouse(id: 1, city: "a"))
      try tx.insert(OldHouse(id: 2, city: "gone"))
    }
    let store = try folder.open(House<Cascade>.self)
    try store.write { tx in
      try tx.insert(City("a"))
      // References that dangled before are not changed.
      _ = try tx.delete(City.self, key: "a")
    }
    #expect(try store.read { try $0.fetch(House<Cascade>.all).map(\.id) } == [2])
  }

  @Test func `only a newer schema version changes or drops a rule`() throws {
    try folder.open(Visit<Nullify>.self).write { tx in
      for name in ["a", "b", "c"] { try tx.insert(City(name)) }
      try tx.insert(Visit<Nullify>(id: 1, list: [Self.a, Self.b]))
    }
    try folder.open(DenyingVisit.self).write { tx in _ = try tx.delete(City.self, key: "a") }
    let newer = try folder.open(DenyingVisit.self, version: 1)
    #expect(throws: StoreError.self) {
      try newer.write { tx in _ = try tx.delete(City.self, key: "b") }
    }
    try folder.open(City.self, OldVisit<Nullify>.self, version: 2).write { tx in
      _ = try tx.delete(City.self, key: "b")
    }
    let metadata = try newer.read { tx in
      unsafe try tx.source.schema.metadata.references(in: unsafe tx.source.transaction)
    }
    #expect(metadata.isEmpty)
  }

  @Test func `the bytes of a rule match the documented format`() throws {
    let rule = ReferenceRule(model: "M", fieldID: 7, target: "City", onDelete: .cascade)
    #expect(rule.encoded == [1, 2, 4, 0, 0, 0] + Array("City".utf8))
    let decoded = try unsafe rule.encoded.withUnsafeBytes { bytes in
      var reader = unsafe ByteReader(bytes)
      return try ReferenceRule(model: "M", fieldID: 7, encoded: &reader)
    }
    #expect(decoded == rule)
    for bytes in [[], [2, 2, 0, 0, 0, 0], [1, 9, 0, 0, 0, 0], [1, 2, 4, 0, 0, 0]] as [[UInt8]] {
      #expect(throws: RecordError.self) {
        try unsafe bytes.withUnsafeBytes { bytes in
          var reader = unsafe ByteReader(bytes)
          return try ReferenceRule(model: "M", fieldID: 7, encoded: &reader)
        }
      }
    }
  }
}

/// A model with the name of `Visit<Nullify>` and the rule deny.
struct DenyingVisit: Model {
  struct Columns: Sendable {}

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Visit nullify",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("list", [Reference<City>].self, onDelete: .deny),
    ]
  )

  var id: Int
  var list: [Reference<City>]
  var primaryKey: Int { id }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    list = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(list)
  }
}
