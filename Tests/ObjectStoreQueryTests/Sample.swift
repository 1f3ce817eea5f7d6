import Foundation
import ObjectStore

/// The values of an object as a query sees them; `nil` for fields that the record lacks.
struct Row: Equatable, Sendable {
  var id = 0
  var rank = 0
  /// `nil` in rows of the old layout.
  var ratio: Double?
  var flag = false
  var level: Int8?
  var name = ""
  var nick: String?
  var date: Date?
  var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var colour = Colour.red
  var priority = Priority.low
  var data = Data()
  var tags: Set<String> = []
  var marks: [Double] = []

  static func == (left: Row, right: Row) -> Bool { left.id == right.id }
}

struct SampleColumns<Root: Model>: Sendable {
  let id = Column<Root, Int>(position: 0)
  let rank = Column<Root, Int>(position: 1)
  let ratio = Column<Root, Double>(position: 2)
  let flag = Column<Root, Bool>(position: 3)
  let level = Column<Root, Int8?>(position: 4)
  let name = Column<Root, String>(position: 5)
  let nick = Column<Root, String?>(position: 6)
  let date = Column<Root, Date?>(position: 7)
  let uuid = Column<Root, UUID>(position: 8)
  let colour = Column<Root, Colour>(position: 9)
  let priority = Column<Root, Priority>(position: 10)
  let data = Column<Root, Data>(position: 11)
  let tags = Column<Root, Set<String>>(position: 12)
  let marks = Column<Root, [Double]>(position: 13)
}

protocol SampleModel: Model where PrimaryKey == Int, Columns == SampleColumns<Self> {
  var row: Row { get }
  init(row: Row)
}

extension SampleModel {
  static func makeSchema(
    _ name: String,
    indexed: Set<String> = [],
    columnar: Set<String> = [],
    _ indexes: [IndexSchema] = [],
    layout: StorageLayout = .sequential
  ) -> ModelSchema {
    func isIndexed(_ field: String) -> Bool { indexed.contains(field) }
    func isColumnar(_ field: String) -> Bool { columnar.contains(field) }
    return ModelSchema(
      name: name,
      fields: [
        FieldSchema(
          "id",
          Int.self,
          isPrimaryKey: true,
          isUnique: isIndexed("id"),
          isColumnar: isColumnar("id")
        ),
        FieldSchema(
          "rank",
          Int.self,
          isIndexed: isIndexed("rank"),
          isHot: true,
          isColumnar: isColumnar("rank")
        ),
        FieldSchema(
          "ratio",
          Double.self,
          isIndexed: isIndexed("ratio"),
          isHot: true,
          isColumnar: isColumnar("ratio")
        ),
        FieldSchema(
          "flag",
          Bool.self,
          isIndexed: isIndexed("flag"),
          isColumnar: isColumnar("flag")
        ),
        FieldSchema(
          "level",
          Int8.self,
          isOptional: true,
          isIndexed: isIndexed("level"),
          isHot: true,
          isColumnar: isColumnar("level")
        ),
        FieldSchema("name", String.self, isIndexed: isIndexed("name")),
        FieldSchema("nick", String.self, isOptional: true, isIndexed: isIndexed("nick")),
        FieldSchema(
          "date",
          Date.self,
          isOptional: true,
          isIndexed: isIndexed("date"),
          isColumnar: isColumnar("date")
        ),
        FieldSchema("uuid", UUID.self, isIndexed: isIndexed("uuid")),
        FieldSchema("colour", Colour.self, isIndexed: isIndexed("colour")),
        FieldSchema("priority", Priority.self, isIndexed: isIndexed("priority")),
        FieldSchema("data", Data.self, isIndexed: isIndexed("data")),
        FieldSchema("tags", Set<String>.self, isIndexed: isIndexed("tags")),
        FieldSchema("marks", [Double].self, isIndexed: isIndexed("marks")),
      ],
      indexes: indexes,
      layout: layout
    )
  }

  static var columns: SampleColumns<Self> { SampleColumns() }
  var primaryKey: Int { row.id }

  init(from record: borrowing RecordView) throws(RecordError) {
    var row = Row()
    row.id = try record.value(at: 0)
    row.rank = try record.value(at: 1)
    row.ratio = try record.optional(at: 2)
    row.flag = try record.value(at: 3)
    row.level = try record.optional(at: 4)
    row.name = try record.value(at: 5)
    row.nick = try record.optional(at: 6)
    row.date = try record.optional(at: 7)
    row.uuid = try record.value(at: 8)
    row.colour = try record.value(at: 9)
    row.priority = try record.value(at: 10)
    row.data = try record.value(at: 11)
    row.tags = try record.value(at: 12)
    row.marks = try record.value(at: 13)
    self.init(row: row)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(row.id)
    record.encode(row.rank)
    record.encode(row.ratio ?? 0)
    record.encode(row.flag)
    record.encode(row.level)
    record.encode(row.name)
    record.encode(row.nick)
    record.encode(row.date)
    record.encode(row.uuid)
    record.encode(row.colour)
    record.encode(row.priority)
    record.encode(row.data)
    record.encode(row.tags)
    record.encode(row.marks)
  }
}

/// A model without indexes.
struct BareSample: SampleModel {
  static let schema = makeSchema("Bare")
  let row: Row
}

/// A model with a column of every number and without indexes.
struct ColumnarSample: SampleModel {
  static let schema = makeSchema(
    "Columnar",
    columnar: ["id", "rank", "ratio", "flag", "level", "date"]
  )
  let row: Row
}

/// A model with columns of some fields and indexes on others.
struct MixedSample: SampleModel {
  static let schema = makeSchema(
    "Mixed",
    indexed: ["level", "name"],
    columnar: ["rank", "level", "flag"],
    [IndexSchema(on: "date", "rank")]
  )
  let row: Row
}

/// A model with an index on every field.
struct SingleSample: SampleModel {
  static let schema = makeSchema(
    "Single",
    indexed: [
      "id", "rank", "ratio", "flag", "level", "name", "nick", "date", "uuid", "colour",
      "priority", "data", "tags", "marks",
    ]
  )
  let row: Row
}

/// A model with compound indexes of numbers and collections.
struct CompoundSample: SampleModel {
  static let schema = makeSchema(
    "Compound",
    indexed: ["level"],
    [
      IndexSchema(on: "flag", "rank"), IndexSchema(on: "colour", "level", "ratio"),
      IndexSchema(on: "rank", "ratio"), IndexSchema(on: "tags", "rank"),
      IndexSchema(on: "level", "marks"), IndexSchema(on: "colour", "id", isUnique: true),
      IndexSchema(on: "date", "rank"),
    ]
  )
  let row: Row
}

/// A model with compound indexes of several strings, which are truncated early.
struct TextSample: SampleModel {
  static let schema = makeSchema(
    "Text",
    [
      IndexSchema(on: "name", "nick"), IndexSchema(on: "flag", "name", "rank"),
      IndexSchema(on: "rank", "data", "name"), IndexSchema(on: "nick", "id", isUnique: true),
      IndexSchema(on: "name", "tags"), IndexSchema(on: "priority", "nick"),
    ]
  )
  let row: Row
}

/// A model that is stored by key.
struct KeyedSample: SampleModel {
  static let schema = makeSchema(
    "Keyed",
    indexed: ["rank", "level", "name", "tags"],
    [IndexSchema(on: "flag", "rank"), IndexSchema(on: "colour", "id", isUnique: true)],
    layout: .byKey
  )
  let row: Row
}

/// The old layout of a model: without `ratio`, and with `rank` as a cold field.
struct OldSample<New: SampleModel>: Model {
  struct Columns: Sendable {}
  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    let new = New.schema
    return ModelSchema(
      name: new.name,
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true), FieldSchema("rank", Int.self),
        FieldSchema("flag", Bool.self),
        FieldSchema("level", Int8.self, isOptional: true, isHot: true),
        FieldSchema("name", String.self),
        FieldSchema("nick", String.self, isOptional: true, isHot: true),
        FieldSchema("date", Date.self, isOptional: true), FieldSchema("uuid", UUID.self),
        FieldSchema("colour", Colour.self), FieldSchema("priority", Priority.self),
        FieldSchema("data", Data.self), FieldSchema("tags", Set<String>.self),
        FieldSchema("marks", [Double].self),
      ],
      layout: new.layout
    )
  }

  let row: Row
  var primaryKey: Int { row.id }

  init(row: Row) { self.row = row }

  init(from record: borrowing RecordView) throws(RecordError) {
    // Objects of the old layout are only written.
    throw RecordError(.invalidValue)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(row.id)
    record.encode(row.rank)
    record.encode(row.flag)
    record.encode(row.level)
    record.encode(row.name)
    record.encode(row.nick)
    record.encode(row.date)
    record.encode(row.uuid)
    record.encode(row.colour)
    record.encode(row.priority)
    record.encode(row.data)
    record.encode(row.tags)
    record.encode(row.marks)
  }
}
