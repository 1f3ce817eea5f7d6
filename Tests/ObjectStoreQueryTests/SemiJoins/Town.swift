import ObjectStore

/// A model that refers to itself and to people, who refer to it by every kind of reference.
struct Town: Model, Equatable {
  struct Columns: Sendable {
    let name = Column<Town, String>(position: 0)
    let size = Column<Town, Int>(position: 1)
    let mayor = Column<Town, Reference<Person>?>(position: 2)
    let twins = Column<Town, Set<Reference<Town>>>(position: 3)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Town",
    fields: [
      FieldSchema("name", String.self, isPrimaryKey: true),
      FieldSchema("size", Int.self, isIndexed: true),
      FieldSchema("mayor", Reference<Person>.self, isOptional: true, onDelete: .keep),
      FieldSchema("twins", Set<Reference<Town>>.self, onDelete: .keep),
    ]
  )
  static let residents = Inverse(\Person.Columns.home)
  static let guests = Inverse(\Person.Columns.visited)
  static let fans = Inverse(\Person.Columns.loved)
  static let twinOf = Inverse(\Town.Columns.twins)

  var name: String
  var size = 0
  var mayor: Reference<Person>?
  var twins: Set<Reference<Town>> = []
  var primaryKey: String { name }

  init(_ name: String) { self.name = name }

  init(from record: borrowing RecordView) throws(RecordError) {
    name = try record.value(at: 0)
    size = try record.value(at: 1)
    mayor = try record.optional(at: 2)
    twins = try record.value(at: 3)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(name)
    record.encode(size)
    record.encode(mayor)
    record.encode(twins)
  }
}

/// A small model with floating-point keys, among which 0 and -0 are equal but distinct.
struct Lap: Model, Equatable {
  struct Columns: Sendable {
    let time = Column<Lap, Double>(position: 0)
    let rank = Column<Lap, Int>(position: 1)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Lap",
    fields: [
      FieldSchema("time", Double.self, isPrimaryKey: true),
      FieldSchema("rank", Int.self, isHot: true),
    ]
  )
  static let runners = Inverse(\Person.Columns.lap)

  var time: Double
  var rank = 0
  var primaryKey: Double { time }

  init(_ time: Double) { self.time = time }

  init(from record: borrowing RecordView) throws(RecordError) {
    time = try record.value(at: 0)
    rank = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(time)
    record.encode(rank)
  }
}
