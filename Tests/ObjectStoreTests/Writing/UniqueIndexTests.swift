import ObjectStore
import TestSupport
import Testing

@Suite struct UniqueIndexTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Badge.self])
  }

  private func isRefused(_ badge: Badge) throws -> Bool {
    do {
      try store.write { try $0.insert(badge) }
      return false
    } catch let error as StoreError where error.code == .duplicateKey {
      return true
    }
  }

  @Test func `any number of objects may have nil in a unique field`() throws {
    for id in 1...3 { #expect(try !isRefused(Badge(id: id))) }
    #expect(try !isRefused(Badge(id: 4, number: 7)))
    #expect(try isRefused(Badge(id: 5, number: 7)))
    #expect(try !isRefused(Badge(id: 6, name: "")))
    #expect(try isRefused(Badge(id: 7, name: "")))
    try store.write { _ = try $0.update(Badge.self, key: 4) { $0.number = nil } }
    #expect(try !isRefused(Badge(id: 8, number: 7)))
    #expect(try store.verify().problems == [])
  }

  @Test func `nil in any field of a compound unique index exempts the object`() throws {
    let owner = "a\0b"
    #expect(try !isRefused(Badge(id: 1, owner: owner, building: 1, floor: "f")))
    #expect(try isRefused(Badge(id: 2, owner: owner, building: 1, floor: "f")))
    #expect(try !isRefused(Badge(id: 3, owner: owner, building: 1, floor: "g")))
    for id in [10, 20] {
      #expect(try !isRefused(Badge(id: id, owner: nil, building: 1, floor: "f")))
      #expect(try !isRefused(Badge(id: id + 1, owner: owner, building: nil, floor: "f")))
      #expect(try !isRefused(Badge(id: id + 2, owner: owner, building: 1, floor: nil)))
      #expect(try !isRefused(Badge(id: id + 3, owner: owner)))
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `rebuilding a unique index accepts several objects with nil`() throws {
    try store.write { tx in for id in 1...5 { try tx.insert(Badge(id: id, floor: "f")) } }
    #expect(try store.rebuildIndexes() == 15)
  }
}

/// A model with optional fields in its unique indexes.
private struct Badge: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Badge",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("number", Int.self, isOptional: true, isUnique: true),
      FieldSchema("name", String.self, isOptional: true, isUnique: true),
      FieldSchema("owner", String.self, isOptional: true),
      FieldSchema("building", Int.self, isOptional: true),
      FieldSchema("floor", String.self, isOptional: true),
    ],
    indexes: [IndexSchema(on: "owner", "building", "floor", isUnique: true)]
  )

  var id: Int
  var number: Int?
  var name: String?
  var owner: String?
  var building: Int?
  var floor: String?
  var primaryKey: Int { id }

  init(
    id: Int,
    number: Int? = nil,
    name: String? = nil,
    owner: String? = nil,
    building: Int? = nil,
    floor: String? = nil
  ) {
    self.id = id
    self.number = number
    self.name = name
    self.owner = owner
    self.building = building
    self.floor = floor
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    number = try record.optional(at: 1)
    name = try record.optional(at: 2)
    owner = try record.optional(at: 3)
    building = try record.optional(at: 4)
    floor = try record.optional(at: 5)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(number)
    record.encode(name)
    record.encode(owner)
    record.encode(building)
    record.encode(floor)
  }
}
