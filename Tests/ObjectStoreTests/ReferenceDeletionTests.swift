import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

/// Tests the delete rules of references.
@Suite struct ReferenceDeletionTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
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

  /// Stores a visit to the cities `a`, `b` and `a`, deletes `a`, and returns the visit and error.
  private func visit<Rule: RuleTag>(
    _ rule: Rule.Type,
    _ field: ReferenceField
  ) throws -> (visit: Visit<Rule>?, code: StoreError.Code?) {
    let store = try folder.open(Visit<Rule>.self)
    try store.write { tx in
      try tx.insert(field.visit(rule, to: [Self.a, Self.b, Self.a]))
      try tx.insert(City("a"))
      try tx.insert(City("b"))
      try tx.insert(Visit<Rule>(id: 2, one: Self.b, list: [Self.b], set: [Self.b]))
    }
    var code: StoreError.Code?
    do {
      try store.write { tx in _ = try tx.delete(City.self, key: "a") }
    } catch let error as StoreError {
      code = error.code
    }
    return try store.read { tx throws in
      // A visit that refers only to `b` does not change.
      #expect(
        try tx.find(Visit<Rule>.self, key: 2)
          == Visit(id: 2, one: Self.b, list: [Self.b], set: [Self.b])
      )
      #expect(try tx.contains(City.self, key: "a") == (code != nil))
      // The index agrees with the object.
      let found = try tx.count(Query(Visit<Rule>.columns.set.contains(Self.a)))
      let visit = try tx.find(Visit<Rule>.self, key: 1)
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
  private func `deleting the target deletes an object with a cascade reference`(
    field: ReferenceField
  ) throws {
    let result = try visit(Cascade.self, field)
    #expect(result.visit == nil && result.code == nil)
  }

  @Test(arguments: ReferenceField.allCases)
  private func `deleting the target of a deny reference throws referenced`(
    field: ReferenceField
  ) throws {
    let result = try visit(Deny.self, field)
    #expect(result.visit == field.visit(Deny.self, to: [Self.a, Self.b, Self.a]))
    #expect(result.code == .referenced)
  }

  @Test(arguments: ReferenceField.allCases)
  private func `deleting the target leaves a keep reference dangling`(field: ReferenceField) throws
  {
    let result = try visit(Keep.self, field)
    #expect(result.visit == field.visit(Keep.self, to: [Self.a, Self.b, Self.a]))
    #expect(result.code == nil)
  }

  @Test func `a required reference cascades, denies or is kept`() throws {
    let store = try folder.open(House<Cascade>.self, House<Deny>.self, House<Keep>.self)
    try store.write { tx in
      for name in ["a", "b", "c"] { try tx.insert(City(name)) }
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
      try tx.insert(House<Keep>(id: 1, city: Self.a))
      try tx.insert(House<Deny>(id: 1, city: Self.b))
    }
    try store.write { tx in _ = try tx.delete(City.self, key: "a") }
    let error = try #require(throws: StoreError.self) {
      try store.write { tx in _ = try tx.delete(City.self, key: "b") }
    }
    #expect(error.code == .referenced)
    #expect(error.message.contains("City 'b'") && error.message.contains("House deny"))
    try store.read { tx throws in
      #expect(try tx.count(House<Cascade>.all) == 0)
      #expect(try tx.find(House<Keep>.self, key: 1)?.city == Self.a)
      #expect(try tx.find(House<Deny>.self, key: 1)?.city == Self.b)
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
    let store = try folder.open(Node.self)
    let count = 3_000
    try store.write { tx in
      for id in 0..<count { try tx.insert(Node(id: id, parent: (id + count - 1) % count)) }
      try tx.insert(Node(id: count))
    }
    try store.write { tx in _ = try tx.delete(Node.self, key: 7) }
    #expect(try store.read { try $0.fetch(Node.all) } == [Node(id: count)])
  }

  @Test func `a denied deletion inside a cascade undoes the whole cascade`() throws {
    let store = try folder.open(Node.self)
    let nodes = [
      Node(id: 1), Node(id: 2, parent: 1), Node(id: 3, parent: 2), Node(id: 4, friend: 3),
    ]
    try store.write { tx in
      for node in nodes { try tx.insert(node) }
    }
    try store.write { tx in
      let error = #expect(throws: StoreError.self) { _ = try tx.delete(Node.self, key: 1) }
      #expect(error?.code == .referenced)
      #expect(error?.message.contains("Node 3") == true)
    }
    #expect(try store.read { try $0.fetch(Node.all) } == nodes)
  }

  @Test func `objects deleted by the cascade do not deny it`() throws {
    let store = try folder.open(Node.self)
    try store.write { tx in
      try tx.insert(Node(id: 1))
      try tx.insert(Node(id: 2, parent: 1))
      try tx.insert(Node(id: 3, parent: 1, friend: 2))
      try tx.insert(Node(id: 4, parent: 3, friend: 4))
    }
    try store.write { tx in _ = try tx.delete(Node.self, key: 1) }
    #expect(try store.read { try $0.count(Node.all) } == 0)
  }

  @Test func `a failed write undoes its cascades`() throws {
    let store = try folder.open(House<Cascade>.self)
    try store.write { tx in
      try tx.insert(City("a"))
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
    }
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write { tx in
        _ = try tx.delete(City.self, key: "a")
        #expect(try tx.count(House<Cascade>.all) == 0)
        throw Stop()
      }
    }
    #expect(try store.read { try $0.count(House<Cascade>.all) } == 1)
    #expect(try store.read { try $0.contains(City.self, key: "a") })
  }

  @Test func `deleting by query applies the delete rules`() throws {
    let store = try folder.open(House<Cascade>.self)
    try store.write { tx in
      for name in ["a", "b"] { try tx.insert(City(name)) }
      try tx.insert(House<Cascade>(id: 1, city: Self.a))
      try tx.insert(House<Cascade>(id: 2, city: Self.b))
      let cities = City.where { $0.name == "a" }
      #expect(try tx.delete(cities) == 1)
      #expect(try tx.fetch(House<Cascade>.all).map(\.id) == [2])
    }
  }

  /// A key that the index of a reference truncates, so that a deletion reads the referring records.
  private static let long = Reference<City>(String(repeating: "x", count: 300))

  /// Stores a visit and a city, changes visits and deletes the city in one further write, and
  /// returns the visits and the error.
  private func visits<Rule: RuleTag>(
    _ rule: Rule.Type,
    _ change: (inout StoreTransaction) throws -> Void
  ) throws -> (all: [Visit<Rule>], code: StoreError.Code?) {
    let store = try folder.open(Visit<Rule>.self)
    try store.write { tx in
      try tx.insert(Visit<Rule>(id: 1))
      try tx.upsert(City(Self.long.key))
    }
    var code: StoreError.Code?
    do {
      try store.write { tx in
        try change(&tx)
        try tx.delete(City.self, key: Self.long.key)
      }
    } catch let error as StoreError {
      code = error.code
    }
    return try store.read { tx throws in
      #expect(try tx.contains(City.self, key: Self.long.key) == (code != nil))
      return (try tx.fetch(Visit<Rule>.all), code)
    }
  }

  @Test func `a deletion sees a hot reference that the same write has set`() throws {
    let nullified = try visits(Nullify.self) { tx in
      try tx.update(Visit<Nullify>.self, key: 1) { $0.one = Self.long }
    }
    #expect(nullified.all == [Visit(id: 1)] && nullified.code == nil)
    let deleted = try visits(Cascade.self) { tx in
      try tx.update(Visit<Cascade>.self, key: 1) { $0.one = Self.long }
    }
    #expect(deleted.all == [] && deleted.code == nil)
    let denied = try visits(Deny.self) { tx in
      try tx.update(Visit<Deny>.self, key: 1) { $0.one = Self.long }
    }
    #expect(denied.all == [Visit(id: 1)] && denied.code == .referenced)
  }

  @Test func `a deletion sees an object with hot fields that the same write has added`() throws {
    let nullified = try visits(Nullify.self) { tx in
      try tx.insert(Visit<Nullify>(id: 2, list: [Self.long]))
    }
    #expect(nullified.all == [Visit(id: 1), Visit(id: 2)] && nullified.code == nil)
    let deleted = try visits(Cascade.self) { tx in
      try tx.insert(Visit<Cascade>(id: 2, list: [Self.long]))
    }
    #expect(deleted.all == [Visit(id: 1)] && deleted.code == nil)
    let denied = try visits(Deny.self) { tx in
      try tx.insert(Visit<Deny>(id: 2, list: [Self.long]))
    }
    #expect(denied.all == [Visit(id: 1)] && denied.code == .referenced)
  }

  @Test func `keys that are truncated in the index are distinguished`() throws {
    let long = String(repeating: "x", count: 600)
    let store = try folder.open(House<Cascade>.self)
    try store.write { tx in
      for (id, name) in [long, long + "y"].enumerated() {
        try tx.insert(City(name))
        try tx.insert(House<Cascade>(id: id, city: Reference(name)))
      }
      _ = try tx.delete(City.self, key: long)
      #expect(try tx.fetch(House<Cascade>.all).map(\.id) == [1])
    }
  }

  @Test func `the keys 0.0 and -0.0 are distinguished`() throws {
    let store = try folder.open(Gauge.self)
    try store.write { tx in
      for (id, height) in [0.0, -0.0].enumerated() {
        try tx.insert(Level(height: height))
        try tx.insert(Gauge(id: id, level: Reference(height)))
      }
      try tx.delete(Level.self, key: 0.0)
      #expect(try tx.fetch(Gauge.all).map(\.id) == [1])
    }
  }
}
