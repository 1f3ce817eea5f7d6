import Foundation
import ObjectStore

/// The model to which the other models of the reference tests refer.
struct City: Model, Hashable {
  struct Columns: Sendable {
    let name = Column<City, String>(position: 0)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "City",
    fields: [FieldSchema("name", String.self, isPrimaryKey: true)]
  )

  var name: String
  var primaryKey: String { name }

  init(_ name: String) { self.name = name }

  init(from record: borrowing RecordView) throws(RecordError) {
    name = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(name)
  }
}

/// A delete rule as a type, for models that are generic over their rule.
protocol RuleTag: Sendable, SendableMetatype {
  static var rule: DeleteRule { get }
}

enum Nullify: RuleTag { static var rule: DeleteRule { .nullify } }
enum Cascade: RuleTag { static var rule: DeleteRule { .cascade } }
enum Deny: RuleTag { static var rule: DeleteRule { .deny } }
enum Keep: RuleTag { static var rule: DeleteRule { .keep } }

/// A model that refers to cities by an optional, an array and a set, all with the same rule.
struct Visit<Rule: RuleTag>: Model, Equatable {
  struct Columns: Sendable {
    let id = Column<Visit, Int>(position: 0)
    let one = Column<Visit, Reference<City>?>(position: 1)
    let list = Column<Visit, [Reference<City>]>(position: 2)
    let set = Column<Visit, Set<Reference<City>>>(position: 3)
    let text = Column<Visit, String>(position: 4)
  }

  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Visit \(Rule.rule)",
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true),
        FieldSchema(
          "one",
          Reference<City>.self,
          isOptional: true,
          isHot: true,
          onDelete: Rule.rule
        ),
        FieldSchema("list", [Reference<City>].self, onDelete: Rule.rule),
        FieldSchema("set", Set<Reference<City>>.self, onDelete: Rule.rule),
        FieldSchema("text", String.self),
      ]
    )
  }

  var id: Int
  var one: Reference<City>?
  var list: [Reference<City>] = []
  var set: Set<Reference<City>> = []
  var text = "text"
  var primaryKey: Int { id }

  init(
    id: Int,
    one: Reference<City>? = nil,
    list: [Reference<City>] = [],
    set: Set<Reference<City>> = []
  ) {
    self.id = id
    self.one = one
    self.list = list
    self.set = set
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    one = try record.optional(at: 1)
    list = try record.value(at: 2)
    set = try record.value(at: 3)
    text = try record.value(at: 4)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(one)
    record.encode(list)
    record.encode(set)
    record.encode(text)
  }
}

/// A model with a required reference to a city.
struct House<Rule: RuleTag>: Model, Equatable {
  struct Columns: Sendable {
    let id = Column<House, Int>(position: 0)
    let city = Column<House, Reference<City>>(position: 1)
  }

  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "House \(Rule.rule)",
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true),
        FieldSchema("city", Reference<City>.self, onDelete: Rule.rule),
      ]
    )
  }

  var id: Int
  var city: Reference<City>
  var primaryKey: Int { id }

  init(id: Int, city: Reference<City>) {
    self.id = id
    self.city = city
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    city = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(city)
  }
}

/// A model with a floating-point key, for which 0 and -0 are different keys.
struct Level: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Level",
    fields: [FieldSchema("height", Double.self, isPrimaryKey: true)]
  )

  var height: Double
  var primaryKey: Double { height }

  init(height: Double) { self.height = height }

  init(from record: borrowing RecordView) throws(RecordError) {
    height = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(height)
  }
}

/// A model that is deleted with its level.
struct Gauge: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Gauge",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("level", Reference<Level>.self, onDelete: .cascade),
    ]
  )

  var id: Int
  var level: Reference<Level>
  var primaryKey: Int { id }

  init(id: Int, level: Reference<Level>) {
    self.id = id
    self.level = level
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    level = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(level)
  }
}

/// A model that refers to itself: `parent` cascades, `friend` denies.
struct Node: Model, Equatable {
  struct Columns: Sendable {
    let id = Column<Node, Int>(position: 0)
    let parent = Column<Node, Reference<Node>?>(position: 1)
    let friend = Column<Node, Reference<Node>?>(position: 2)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Node",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("parent", Reference<Node>.self, isOptional: true, onDelete: .cascade),
      FieldSchema("friend", Reference<Node>.self, isOptional: true, onDelete: .deny),
    ]
  )

  var id: Int
  var parent: Reference<Node>?
  var friend: Reference<Node>?
  var primaryKey: Int { id }

  init(id: Int, parent: Int? = nil, friend: Int? = nil) {
    self.id = id
    self.parent = parent.map { Reference($0) }
    self.friend = friend.map { Reference($0) }
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    parent = try record.optional(at: 1)
    friend = try record.optional(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(parent)
    record.encode(friend)
  }
}

/// The `Visit` model of a program without the reference fields.
struct OldVisit<Rule: RuleTag>: Model {
  struct Columns: Sendable {}

  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Visit \(Rule.rule)",
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true),
        FieldSchema("text", String.self),
      ]
    )
  }

  var id: Int
  var text: String
  var primaryKey: Int { id }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    text = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(text)
  }
}

/// The `Visit` model of a program with one of the reference fields and one additional field.
struct ListVisit: Model {
  struct Columns: Sendable {}

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Visit nullify",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("tag", Int.self, default: 0),
      FieldSchema("list", [Reference<City>].self),
    ]
  )

  var id: Int
  var tag: Int
  var list: [Reference<City>]
  var primaryKey: Int { id }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    tag = try record.value(at: 1)
    list = try record.value(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(tag)
    record.encode(list)
  }
}

/// The `House` model of a program that stores the name of the city as a string.
struct OldHouse: Model {
  struct Columns: Sendable {}

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "House cascade",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("city", String.self),
    ]
  )

  var id: Int
  var city: String
  var primaryKey: Int { id }

  init(id: Int, city: String) {
    self.id = id
    self.city = city
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    city = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(city)
  }
}
