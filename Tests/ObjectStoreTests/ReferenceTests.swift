import Foundation
import TestSupport
import Testing

@testable import ObjectStore

@Suite struct ReferenceTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func open(_ models: any Model.Type..., version: UInt32 = 0) throws -> ObjectStore {
    var options = StoreOptions()
    options.schemaVersion = version
    return try ObjectStore(at: folder.path, models: models, options: options)
  }

  private static let a = Reference<City>("a")
  private static let b = Reference<City>("b")

  /// The field by which a visit refers to cities.
  private enum ReferenceField: CaseIterable {
    case one, list, set

    func visit<Rule: RuleTag>(_ rule: Rule.Type, to cities: [Reference<City>]) -> Visit<Rule> {
      switch self {
      case .one: Visit(id: 1, one: cities.first)
      case .list: Visit(id: 1, list: cities)
      case .set: Visit(id: 1, set: Set(cities))
      }
    }
  }

  /// Stores a visit to the cities `a`, `b` and `a`, deletes `a`, and returns the visit and the error.
  private func visit<Rule: RuleTag>(
    _ rule: Rule.Type,
    _ field: ReferenceField
  ) throws -> (visit: Visit<Rule>?, code: StoreError.Code?) {
    let store = try open(Visit<Rule>.self)
    try store.write { tx in
      try tx.insert(field.visit(rule, to: [Self.a, Self.b, Self.a]))
      try tx.insert(City("a"))
      try tx.insert(City("b"))
      try tx.insert(Visit<Rule>(id: 2, one: Self.b, list: [Self.b], set: [Self.b]))
    }
    var code: StoreError.Code?
    do {
      try store.write { tx in _ = try tx.delete(City.self, "a") }
    } catch let error as StoreError {
      code = error.code
    }
    return try store.read { tx throws in
      // A visit that refers only to `b` does not change.
      #expect(
        try tx.get(Visit<Rule>.self, 2)
          == Visit(id: 2, one: Self.b, list: [Self.b], set: [Self.b])
      )
      #expect(try tx.contains(City.self, "a") == (code != nil))
      // The index agrees with the object.
      let found = try tx.count(Query(Visit<Rule>.columns.set.contains(Self.a)))
      let visit = try tx.get(Visit<Rule>.self, 1)
      #expect(found == (visit?.set.contains(Self.a) == true ? 1 : 0))
      return (visit, code)
    }
  }

  // MARK: Rules

  @Test(arguments: ReferenceField.allCases)
  private func `deleting the target removes a nullify reference`(field: ReferenceField) throws {
    let rest: [Reference<City>] = field == .one ? [] : [Self.b]
    let result = try visit(Nullify.self, field)
    #expect(result.visit == field.visit(Nullify.self, to: rest) && result.code == nil)
  }

  @Test(arguments: ReferenceField.allCases)
  private func `deleting the target deletes an object with a cascade reference`(field: ReferenceField) throws {
    let result = try visit(Cascade.self, field)
    #expect(result.visit == nil && result.code == nil)
  }

  @Test(arguments: ReferenceField.allCases)
  private func `deleting the target of a deny reference throws referenced`(field: ReferenceField) throws {
    let result = try visit(Deny.self, field)
    #expect(result.visit == field.visit(Deny.self, to: [Self.a, Self.b, Self.a]))
    #expect(result.code == .referenced)
  }

  @Test(arguments: ReferenceField.allCases)
  private func `deleting the target leaves a keep reference dangling`(field: ReferenceField) throws {
    let result = try visit(Keep.self, field)
    #expect(result.visit == field.visit(Keep.self, to: [Self.a, Self.b, Self.a]))
    #expect(result.code == nil)
  }

  @Test func `a required reference cascades, denies or is kept`() throws {
    let store = try open(House<Cascade>.self, House<Deny>.self, House<Keep>.self)
    try store.write { tx in
      for name in ["a", "b", "c"] { try tx.insert(City(name)) }
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
      try tx.insert(House<Keep>(id: 1, city: Self.a))
      try tx.insert(House<Deny>(id: 1, city: Self.b))
    }
    try store.write { tx in _ = try tx.delete(City.self, "a") }
    let error = try #require(throws: StoreError.self) {
      try store.write { tx in _ = try tx.delete(City.self, "b") }
    }
    #expect(error.code == .referenced)
    #expect(error.message.contains("City 'b'") && error.message.contains("House deny"))
    try store.read { tx throws in
      #expect(try tx.count(House<Cascade>.all) == 0)
      #expect(try tx.get(House<Keep>.self, 1)?.city == Self.a)
      #expect(try tx.get(House<Deny>.self, 1)?.city == Self.b)
      #expect(try tx.fetch(City.all).map(\.name) == ["b", "c"])
    }
  }

  @Test func `the default rule is deny for required fields and nullify for others`() {
    let required = FieldSchema("a", Reference<City>.self)
    let optional = FieldSchema("b", Reference<City>.self, isOptional: true)
    let list = FieldSchema("c", [Reference<City>].self)
    let fields = [required, optional, list]
    #expect(fields.map { $0.reference?.onDelete } == [.deny, .nullify, .nullify])
    #expect(fields.map { $0.isIndexed } == [true, true, true])
    #expect(required.reference?.target == City.self && required.type == .string)
    #expect(FieldSchema("d", String.self).reference == nil)
  }

  // MARK: Chains

  @Test func `a cascade follows long chains and stops at cycles`() throws {
    let store = try open(Node.self)
    let count = 3_000
    try store.write { tx in
      for id in 0..<count { try tx.insert(Node(id: id, parent: (id + count - 1) % count)) }
      try tx.insert(Node(id: count))
    }
    try store.write { tx in _ = try tx.delete(Node.self, 7) }
    #expect(try store.read { try $0.fetch(Node.all) } == [Node(id: count)])
  }

  @Test func `a denied deletion inside a cascade undoes the whole cascade`() throws {
    let store = try open(Node.self)
    let nodes = [
      Node(id: 1), Node(id: 2, parent: 1), Node(id: 3, parent: 2), Node(id: 4, friend: 3),
    ]
    try store.write { tx in
      for node in nodes { try tx.insert(node) }
    }
    try store.write { tx in
      let error = #expect(throws: StoreError.self) { _ = try tx.delete(Node.self, 1) }
      #expect(error?.code == .referenced)
      #expect(error?.message.contains("Node 3") == true)
    }
    #expect(try store.read { try $0.fetch(Node.all) } == nodes)
  }

  @Test func `objects deleted by the cascade do not deny it`() throws {
    let store = try open(Node.self)
    try store.write { tx in
      try tx.insert(Node(id: 1))
      try tx.insert(Node(id: 2, parent: 1))
      try tx.insert(Node(id: 3, parent: 1, friend: 2))
      try tx.insert(Node(id: 4, parent: 3, friend: 4))
    }
    try store.write { tx in _ = try tx.delete(Node.self, 1) }
    #expect(try store.read { try $0.count(Node.all) } == 0)
  }

  @Test func `a reference made before a nested write is checked at the end of the outer write`() throws {
    let store = try open(House<Deny>.self)
    for stage in 0..<3 {
      let result = Result {
        try store.write { tx in
          try tx.insert(House<Deny>(id: stage, city: Reference("city \(stage)")))
          try tx.nested { inner in
            try inner.insert(City("other \(stage)"))
            if stage == 1 { try inner.insert(City("city 1")) }
          }
          if stage == 2 { try tx.insert(City("city 2")) }
        }
      }
      switch result {
      case .success: #expect(stage > 0)
      case .failure(let error):
        #expect((error as? StoreError)?.code == .danglingReference && stage == 0)
      }
    }
    #expect(try store.read { try $0.count(Query<House<Deny>>()) } == 2)
  }

  @Test func `a failed write undoes its cascades`() throws {
    let store = try open(House<Cascade>.self)
    try store.write { tx in
      try tx.insert(City("a"))
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
    }
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write { tx in
        _ = try tx.delete(City.self, "a")
        #expect(try tx.count(House<Cascade>.all) == 0)
        throw Stop()
      }
    }
    #expect(try store.read { try $0.count(House<Cascade>.all) } == 1)
    #expect(try store.read { try $0.contains(City.self, "a") })
  }

  @Test func `deleting by query applies the delete rules`() throws {
    let store = try open(House<Cascade>.self)
    try store.write { tx in
      for name in ["a", "b"] { try tx.insert(City(name)) }
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
      try tx.insert(House<Cascade>(id: 2, city: Self.b))
      let cities = City.where { $0.name == "a" }
      #expect(try tx.delete(cities) == 1)
      #expect(try tx.fetch(House<Cascade>.all).map(\.id) == [2])
    }
  }

  @Test func `keys that are truncated in the index are distinguished`() throws {
    let long = String(repeating: "x", count: 600)
    let store = try open(House<Cascade>.self)
    try store.write { tx in
      for (id, name) in [long, long + "y"].enumerated() {
        try tx.insert(City(name))
        try tx.insert(House<Cascade>(id: id, city: Reference(name)))
      }
      _ = try tx.delete(City.self, long)
      #expect(try tx.fetch(House<Cascade>.all).map(\.id) == [1])
    }
  }

  @Test func `the keys 0.0 and -0.0 are distinguished`() throws {
    let store = try open(Gauge.self)
    try store.write { tx in
      for (id, height) in [0.0, -0.0].enumerated() {
        try tx.insert(Level(height: height))
        try tx.insert(Gauge(id: id, level: Reference(height)))
      }
      try tx.delete(Level.self, 0.0)
      #expect(try tx.fetch(Gauge.all).map(\.id) == [1])
    }
  }

  // MARK: Nothing dangles

  @Test func `each of several dangling references is checked`() throws {
    let store = try open(Visit<Nullify>.self)
    for existing in ["a", "b"] {
      let error = #expect(throws: StoreError.self) {
        try store.write { tx in
          try tx.insert(Visit<Nullify>(id: 1, one: Self.a, list: [Self.b]))
          try tx.insert(City(existing))
        }
      }
      #expect(error?.code == .danglingReference)
    }
  }

  @Test func `objects that refer to each other can be inserted in any order`() throws {
    let store = try open(Node.self)
    try store.write { tx in
      try tx.insert(Node(id: 1, parent: 2))
      try tx.insert(Node(id: 2, parent: 1))
    }
    #expect(try store.read { try $0.count(Node.all) } == 2)
  }

  @Test func `a dangling reference throws danglingReference at the end of the write`() throws {
    let store = try open(House<Deny>.self, Visit<Nullify>.self)
    let error = try #require(throws: StoreError.self) {
      try store.write { tx in try tx.insert(House<Deny>(id: 7, city: Reference("gone"))) }
    }
    #expect(error.code == .danglingReference)
    #expect(error.message.hasPrefix("House deny 7 refers in city to City 'gone', which does not"))
    for visit in [
      Visit<Nullify>(id: 1, one: Self.a), Visit(id: 1, list: [Self.b, Self.a]),
      Visit(id: 1, set: [Self.a]),
    ] {
      let error = #expect(throws: StoreError.self) {
        try store.write { tx in
          try tx.insert(City("b"))
          try tx.insert(visit)
        }
      }
      #expect(error?.code == .danglingReference)
    }
    #expect(try store.read { try $0.count(City.all) + $0.count(House<Deny>.all) } == 0)
  }

  @Test func `an update to a dangling reference throws`() throws {
    let store = try open(House<Deny>.self)
    try store.write { tx in
      try tx.insert(City("a"))
      try tx.insert(House<Deny>(id: 1, city: Self.a))
    }
    #expect(throws: StoreError.self) {
      try store.write { tx in _ = try tx.update(House<Deny>.self, 1) { $0.city = Self.b } }
    }
    try store.write { tx in
      _ = try tx.update(House<Deny>.self, 1) { $0.city = Self.b }
      _ = try tx.delete(City.self, "a")
      try tx.insert(City("b"))
    }
    #expect(try store.read { try $0.get(House<Deny>.self, 1)?.city } == Self.b)
  }

  @Test func `a dangling reference that is fixed before the end of the write is accepted`() throws {
    let store = try open(House<Deny>.self)
    try store.write { tx in
      try tx.insert(City("a"))
      try tx.insert(House<Deny>(id: 1, city: Self.b))
      try tx.insert(House<Deny>(id: 2, city: Self.b))
      _ = try tx.update(House<Deny>.self, 1) { $0.city = Self.a }
      _ = try tx.delete(House<Deny>.self, 2)
    }
    #expect(try store.read { try $0.fetch(House<Deny>.all).map(\.city) } == [Self.a])
  }

  @Test func `a keep reference may dangle`() throws {
    let store = try open(Visit<Keep>.self)
    try store.write { tx in try tx.insert(Visit<Keep>(id: 1, one: Self.a, list: [Self.b])) }
    try store.read { tx throws in
      let visit = try #require(try tx.get(Visit<Keep>.self, 1))
      #expect(try visit.one.flatMap { try tx.get($0) } == nil)
      #expect(try tx.fetch(visit.list) == [])
    }
  }

  @Test func `references of a rolled-decoded nested write are not checked`() throws {
    struct Stop: Error {}
    let store = try open(House<Deny>.self)
    try store.write { tx in
      #expect(throws: Stop.self) {
        try tx.nested { inner in
          try inner.insert(House<Deny>(id: 1, city: Self.a))
          throw Stop()
        }
      }
      let error = #expect(throws: StoreError.self) {
        try tx.nested { inner in try inner.insert(House<Deny>(id: 2, city: Self.a)) }
      }
      #expect(error?.code == .danglingReference)
      try tx.insert(House<Deny>(id: 3, city: Self.b))
      try tx.nested { inner in try inner.insert(City("b")) }
    }
    #expect(try store.read { try $0.fetch(House<Deny>.all).map(\.id) } == [3])
  }

  @Test func `rolling decoded a nested write restores deleted objects and references`() throws {
    struct Stop: Error {}
    let store = try open(House<Cascade>.self, Visit<Nullify>.self)
    try store.write { tx in
      try tx.insert(City("a"))
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
      try tx.insert(Visit<Nullify>(id: 1, one: Self.a, set: [Self.a]))
      #expect(throws: Stop.self) {
        try tx.nested { inner in
          _ = try inner.delete(City.self, "a")
          throw Stop()
        }
      }
    }
    try store.read { tx throws in
      #expect(try tx.count(House<Cascade>.all) == 1)
      #expect(
        try tx.get(Visit<Nullify>.self, 1) == Visit(id: 1, one: Self.a, set: [Self.a])
      )
    }
  }

  // MARK: Reading

  @Test func `fetching references returns objects in reference order`() throws {
    let store = try open(Visit<Nullify>.self)
    try store.write { tx in
      for name in ["a", "b", "c"] { try tx.insert(City(name)) }
      try tx.insert(Visit<Nullify>(id: 1, one: Self.b, list: [Self.b, Self.a, Self.b]))
    }
    try store.read { tx throws in
      let visit = try #require(try tx.get(Visit<Nullify>.self, 1))
      #expect(try visit.one.flatMap { try tx.get($0) } == City("b"))
      #expect(try tx.fetch(visit.list).map(\.name) == ["b", "a", "b"])
      #expect(try tx.fetch([Reference<City>]()).isEmpty)
    }
  }

  @Test func `an inverse query finds the referring objects by index`() throws {
    let one = Inverse(\Visit<Nullify>.Columns.one)
    let list = Inverse(\Visit<Nullify>.Columns.list)
    let set = Inverse(\Visit<Nullify>.Columns.set)
    let house = Inverse(\House<Deny>.Columns.city)
    let store = try open(Visit<Nullify>.self, House<Deny>.self)
    let city = City("a")
    try store.write { tx in
      try tx.insert(city)
      try tx.insert(City("b"))
      try tx.insert(Visit<Nullify>(id: 1, one: Self.a))
      try tx.insert(Visit<Nullify>(id: 2, list: [Self.b, Self.a]))
      try tx.insert(Visit<Nullify>(id: 3, set: [Self.a, Self.b]))
      try tx.insert(House<Deny>(id: 4, city: Self.a))
      try tx.insert(House<Deny>(id: 5, city: Self.b))
    }
    try store.read { tx throws in
      #expect(try tx.referrers(to: city, one).map(\.id) == [1])
      #expect(try tx.referrers(to: city, list).map(\.id) == [2])
      #expect(try tx.referrers(to: city, set).map(\.id) == [3])
      #expect(try tx.fetch(house(of: Self.a)).map(\.id) == [4])
      for query in [one(of: city), list(of: city), set(of: city)] {
        #expect((try tx.explain(query)).description.contains("index ("))
      }
      let houses = House<Deny>.where { $0.city.refers(to: city) }
      #expect(try tx.fetch(houses).map(\.id) == [4])
      let visits = [
        Visit<Nullify>.where { $0.one.refers(to: city) },
        Visit.where { $0.list.refers(to: city) },
        Visit.where { $0.set.refers(to: city) },
      ]
      #expect(try visits.map { try tx.fetch($0).map(\.id) } == [[1], [2], [3]])
    }
  }

  @Test func `a reference is encoded as its key`() throws {
    let data = try JSONEncoder().encode(["city": Self.a])
    #expect(String(decoding: data, as: UTF8.self) == #"{"city":"a"}"#)
    #expect(try JSONDecoder().decode([String: Reference<City>].self, from: data)["city"] == Self.a)
    #expect(Self.a.description == "City a")
    #expect(Self.a.storedBytes == "a".storedBytes)
  }

  // MARK: Programs of different versions

  @Test func `opening a model also opens the models to which it refers`() throws {
    let store = try open(House<Deny>.self)
    try store.write { tx in try tx.insert(City("a")) }
    #expect(try store.read { try $0.count(City.all) } == 1)
  }

  @Test func `a program without a cascading model cannot delete the target`() throws {
    try open(House<Cascade>.self, House<Keep>.self).write { tx in
      for name in ["a", "b", "c"] { try tx.insert(City(name)) }
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
      try tx.insert(House<Keep>(id: 1, city: Self.b))
    }
    let other = try open(City.self)
    let error = try #require(throws: StoreError.self) {
      try other.write { tx in _ = try tx.delete(City.self, "a") }
    }
    #expect(error.code == .referenced)
    #expect(error.message.contains("House cascade refer to it in city; open the store with"))
    try other.write { tx in
      _ = try tx.delete(City.self, "b")
      _ = try tx.delete(City.self, "c")
    }
    #expect(try other.read { try $0.fetch(City.all) } == [City("a")])
  }

  @Test func `a rule added by another program applies to an open store`() throws {
    let other = try open(City.self)
    try other.write { tx in try tx.insert(City("a")) }
    try open(House<Cascade>.self).write { tx in
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
    }
    let error = try #require(throws: StoreError.self) {
      try other.write { tx in _ = try tx.delete(City.self, "a") }
    }
    #expect(error.code == .referenced)
  }

  @Test func `a rule applies to programs that do not know the field`() throws {
    try open(Visit<Cascade>.self, Visit<Nullify>.self).write { tx in
      for name in ["a", "b"] { try tx.insert(City(name)) }
      try tx.insert(Visit<Cascade>(id: 1, list: [Self.a]))
      try tx.insert(Visit<Nullify>(id: 1, list: [Self.b]))
    }
    let old = try open(City.self, OldVisit<Cascade>.self, OldVisit<Nullify>.self)
    try old.write { tx in
      _ = try tx.update(OldVisit<Cascade>.self, 1) { $0.text = "old" }
      _ = try tx.delete(City.self, "a")
    }
    #expect(try old.read { try $0.count(OldVisit<Cascade>.all) } == 0)
    let error = try #require(throws: StoreError.self) {
      try old.write { tx in _ = try tx.delete(City.self, "b") }
    }
    #expect(error.code == .referenced)
  }

  @Test func `only a program that knows all reference fields can nullify them`() throws {
    try open(Visit<Nullify>.self).write { tx in
      try tx.insert(City("a"))
      try tx.insert(Visit<Nullify>(id: 1, one: Self.a, list: [Self.a]))
    }
    try open(ListVisit.self).write { tx in _ = try tx.update(ListVisit.self, 1) { $0.tag = 7 } }
    // The older program cannot nullify `one`, which it does not know, so its deletion is refused.
    let error = #expect(throws: StoreError.self) {
      try open(ListVisit.self).write { tx in _ = try tx.delete(City.self, "a") }
    }
    #expect(error?.code == .referenced)
    try open(Visit<Nullify>.self).write { tx in _ = try tx.delete(City.self, "a") }
    let visit = try open(Visit<Nullify>.self).read { try $0.get(Visit<Nullify>.self, 1) }
    #expect(visit == Visit(id: 1))
    let other = try open(ListVisit.self).read { try $0.get(ListVisit.self, 1) }
    #expect(other?.tag == 7 && other?.list == [])
  }

  @Test func `a string field becomes a reference without a migration`() throws {
    try open(OldHouse.self).write { tx in
      try tx.insert(OldHouse(id: 1, city: "a"))
      try tx.insert(OldHouse(id: 2, city: "gone"))
    }
    let store = try open(House<Cascade>.self)
    try store.write { tx in
      try tx.insert(City("a"))
      // References that dangled before are not changed.
      _ = try tx.delete(City.self, "a")
    }
    #expect(try store.read { try $0.fetch(House<Cascade>.all).map(\.id) } == [2])
  }

  @Test func `only a newer schema version changes or drops a rule`() throws {
    try open(Visit<Nullify>.self).write { tx in
      for name in ["a", "b", "c"] { try tx.insert(City(name)) }
      try tx.insert(Visit<Nullify>(id: 1, list: [Self.a, Self.b]))
    }
    try open(DenyingVisit.self).write { tx in _ = try tx.delete(City.self, "a") }
    let newer = try open(DenyingVisit.self, version: 1)
    #expect(throws: StoreError.self) {
      try newer.write { tx in _ = try tx.delete(City.self, "b") }
    }
    try open(City.self, OldVisit<Nullify>.self, version: 2).write { tx in
      _ = try tx.delete(City.self, "b")
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
