import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import LMDB
@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// Defaults together with other changes of a model.
@Suite struct AddedFieldChangeTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func levels<Version: GadgetVersion>(
    _ version: Version.Type,
    _ store: Store
  ) throws -> [Int: Int] {
    let all = try store.read { try $0.fetch(Gadget<Version>.all) }
    return Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0.level) })
  }

  @Test func `nil in a field that became required is the default for queries, too`() throws {
    typealias New = Gadget<Added.Indexed>
    do {
      let store = try folder.open(VagueGadget.self)
      try store.write { tx in
        try tx.insert(VagueGadget(id: 1, level: nil))
        try tx.insert(VagueGadget(id: 2, level: 5))
      }
    }
    let store = try folder.open(New.self)
    #expect(try levels(Added.Indexed.self, store) == [1: 3, 2: 5])
    // The program in which the field is optional goes on.
    let vague = try folder.open(VagueGadget.self)
    try vague.write { tx in
      try tx.insert(VagueGadget(id: 3, level: nil))
      try tx.update(VagueGadget.self, key: 2) { $0.level = nil }
      try tx.insert(VagueGadget(id: 4, level: 3))
    }
    #expect(try levels(Added.Indexed.self, store) == [1: 3, 2: 3, 3: 3, 4: 3])
    try store.read { tx in
      let found = try tx.fetch(New.where { $0.level == 3 }).map(\.id)
      let plan = try tx.explain(New.where { $0.level == 3 })
      let sum = try tx.sum(New.all, of: \.level)
      #expect(found == [1, 2, 3, 4] && sum == 12)
      #expect(plan.description.hasPrefix("index (level)"))
    }
    try vague.read { tx in
      let missing = try tx.fetch(VagueGadget.where { $0.level == nil }).map(\.id)
      let three = try tx.fetch(VagueGadget.where { $0.level == 3 }).map(\.id)
      let all = try tx.fetch(VagueGadget.all)
      #expect(missing == all.filter { $0.level == nil }.map(\.id) && missing == [1, 2, 3])
      #expect(three == [4])
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `a step sees the default and writes it`() throws {
    do {
      let old = try folder.open(OldGadget.self)
      try old.write { tx in for id in 1...3 { try tx.insert(OldGadget(id)) } }
    }
    do { _ = try folder.open(Gadget<Added.Plain>.self) }
    let seen = Mutex<[Int]>([])
    var options = StoreOptions(schemaVersion: 1)
    options.migration = Migration(steps: [
      MigrationStep(
        "change names",
        to: 1,
        [
          .change("Gadget") { old, new in
            let level: Int = try old.value("level")
            seen.withLock { $0.append(level) }
            new.set("name", to: "stepped")
          }
        ]
      )
    ])
    // The program has another default.
    let store = try Store(
      at: folder.path,
      models: [Gadget<Added.OtherDefault>.self],
      options: options
    )
    #expect(seen.withLock { $0 } == [3, 3, 3])
    #expect(try levels(Added.OtherDefault.self, store) == [1: 3, 2: 3, 3: 3])
    let found = try store.read { tx in
      try tx.count(Gadget<Added.OtherDefault>.where { $0.level == 3 && $0.isActive == true })
    }
    #expect(found == 3)
    let hasAll = try Store.readStored(store.environment) { _, schema in
      schema.model("Gadget")?.layouts.allSatisfy { $0.fields.count == 6 }
    }
    #expect(hasAll == true)
    #expect(try store.verify().problems == [])
  }

  @Test func `objects that are copied to another layout keep what they have`() throws {
    do {
      let old = try folder.open(OldGadget.self)
      try old.write { tx in for id in 1...3 { try tx.insert(OldGadget(id)) } }
    }
    do { _ = try folder.open(Gadget<Added.Indexed>.self) }
    let store = try folder.open(Gadget<ByKey>.self, version: 1)
    #expect(try levels(ByKey.self, store) == [1: 3, 2: 3, 3: 3])
    #expect(try store.read { try $0.count(Gadget<ByKey>.where { $0.level == 3 }) } == 3)
    #expect(try store.verify().problems == [])
  }

  private enum ByKey: GadgetVersion {
    static let schema = OldGadget.gadget(Added.fields(isIndexed: true), [], .byKey)
  }

  // MARK: The decision

  private let key = RecordLayout.Field(
    id: 1,
    name: "id",
    type: .signed(bits: 64),
    isOptional: false,
    isHot: false,
    isPrimaryKey: true
  )

  private func layout(_ isOptional: Bool?) -> RecordLayout {
    let level = isOptional.map {
      RecordLayout.Field(
        id: FieldSchema.id(forName: "level"),
        name: "level",
        type: .signed(bits: 64),
        isOptional: $0,
        isHot: false,
        isPrimaryKey: false
      )
    }
    return RecordLayout(fields: [key] + (level.map { [$0] } ?? []))
  }

  @Test func `a default is used from the first layout that needs it`() throws {
    let id = FieldSchema.id(forName: "level")
    let schema = ModelSchema(
      name: "M",
      fields: [
        FieldSchema("id", Int.self, id: 1, isPrimaryKey: true),
        FieldSchema("level", Int.self, default: 3),
      ]
    )
    let bytes = 3.storedBytes
    let unused = StoredDefault(type: .signed(bits: 64), bytes: bytes)
    let used = StoredDefault(type: .signed(bits: 64), bytes: bytes, isUsed: true)
    let other = StoredDefault(type: .signed(bits: 64), bytes: 9.storedBytes, isUsed: true)
    let replacing = StoredDefault(
      type: .signed(bits: 64),
      bytes: bytes,
      isUsed: true,
      replacesNil: true
    )
    let (without, with, optional) = (layout(nil), layout(false), layout(true))
    let cases: [(StoredDefaults, ModelSchema?, [RecordLayout], Int, StoredDefault, Bool)] = [
      // A new store.
      ([:], schema, [with], 0, unused, false),
      // A field is added. Indexes that exist have been built without it.
      ([:], schema, [without, with], 1, used, true),
      // An older program opens the store.
      ([id: unused], nil, [with, without], 1, used, false),
      ([id: used], nil, [with, without], 2, used, false),
      // An earlier library has added the layout.
      ([id: unused], schema, [with, without], 2, used, true),
      ([id: unused], nil, [with, without], 2, unused, false),
      // The first default stays.
      ([id: other], schema, [without, with], 2, other, false),
      // The field becomes required.
      ([:], schema, [optional, with], 1, replacing, true),
      ([id: replacing], schema, [optional, with], 2, replacing, false),
      ([id: replacing], nil, [optional, with], 2, replacing, false),
    ]
    for (number, (stored, schema, layouts, count, expected, rebuilds)) in cases.enumerated() {
      let update = stored.updated(by: schema, layouts: layouts, storedLayouts: count)
      #expect(update.defaults == [id: expected], "\(number)")
      #expect(update.rebuilt == (rebuilds ? [id] : []), "\(number)")
    }
  }
}

/// A version of the model in which the level is optional, without a default.
private struct VagueGadget: Model {
  struct Columns: Sendable {
    let level = Column<VagueGadget, Int?>(position: 2)
  }
  static let columns = Columns()
  static let schema = OldGadget.gadget([
    FieldSchema("level", Int.self, isOptional: true, isIndexed: true)
  ])
  var id: Int
  var name = "vague"
  var level: Int?
  var primaryKey: Int { id }

  init(id: Int, level: Int?) {
    self.id = id
    self.level = level
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    name = try record.value(at: 1)
    level = try record.optional(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(name)
    record.encode(level)
  }
}
