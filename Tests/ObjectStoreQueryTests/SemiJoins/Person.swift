import ObjectStore

/// A model with every kind of reference, all of which may dangle.
struct Person: Model, Equatable {
  struct Columns: Sendable {
    let id = Column<Person, Int>(position: 0)
    let age = Column<Person, Int>(position: 1)
    let boss = Column<Person, Reference<Person>?>(position: 2)
    let home = Column<Person, Reference<Town>>(position: 3)
    let visited = Column<Person, [Reference<Town>]>(position: 4)
    let loved = Column<Person, Set<Reference<Town>>>(position: 5)
    let lap = Column<Person, Reference<Lap>?>(position: 6)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Person",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("age", Int.self, isHot: true),
      FieldSchema("boss", Reference<Person>.self, isOptional: true, onDelete: .keep),
      FieldSchema("home", Reference<Town>.self, onDelete: .keep),
      FieldSchema("visited", [Reference<Town>].self, onDelete: .keep),
      FieldSchema("loved", Set<Reference<Town>>.self, onDelete: .keep),
      FieldSchema("lap", Reference<Lap>.self, isOptional: true, isHot: true, onDelete: .keep),
    ],
    indexes: [IndexSchema(on: "home", "age")]
  )
  static let reports = Inverse(\Person.Columns.boss)
  static let governs = Inverse(\Town.Columns.mayor)

  var id: Int
  var age = 0
  var boss: Reference<Person>?
  var home: Reference<Town>
  var visited: [Reference<Town>] = []
  var loved: Set<Reference<Town>> = []
  var lap: Reference<Lap>?
  var primaryKey: Int { id }

  init(_ id: Int, home: String = "") {
    self.id = id
    self.home = Reference(home)
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    age = try record.value(at: 1)
    boss = try record.optional(at: 2)
    home = try record.value(at: 3)
    visited = try record.value(at: 4)
    loved = try record.value(at: 5)
    lap = try record.optional(at: 6)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(age)
    record.encode(boss)
    record.encode(home)
    record.encode(visited)
    record.encode(loved)
    record.encode(lap)
  }
}
