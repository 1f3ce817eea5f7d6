import Foundation

@testable import ObjectStoreCore

/// The values of a ``Meter``: a field of every type that can have a column.
struct Measures: Equatable, Sendable {
  enum Level: Int16, FieldValue, CaseIterable, Comparable {
    // The order differs from that of the raw values.
    case low = 7
    case medium = -3
    case high = 2

    private var rank: Int {
      switch self {
      case .low: 0
      case .medium: 1
      case .high: 2
      }
    }

    static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
  }

  var tiny: Int8 = 0
  var small: Int16?
  var medium: Int32 = 0
  var large: Int64 = 0
  var byte: UInt8?
  var short: UInt16 = 0
  var word: UInt32 = 0
  var long: UInt64 = 0
  var ratio: Float?
  var score: Double = 0
  var date: Date?
  var flag: Bool?
  var level: Level = .low
  var text = ""
}

/// Whether the fields of a ``Meter`` have columns.
///
/// The schema is stored here, because a generic type would make it again at each use.
protocol MeterKind: Sendable {
  static var schema: ModelSchema { get }
}

enum WithColumns: MeterKind {
  static let schema = makeSchema("Columnar", hasColumns: true)
}

enum WithoutColumns: MeterKind {
  static let schema = makeSchema("Plain", hasColumns: false)
}

/// A later version of the model that has no columns yet.
enum BeforeColumns: MeterKind {
  static let schema = makeSchema("Columnar", hasColumns: false)
}

extension MeterKind {
  fileprivate static func makeSchema(_ name: String, hasColumns on: Bool) -> ModelSchema {
    ModelSchema(
      name: name,
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true, isColumnar: on),
        FieldSchema("tiny", Int8.self, isColumnar: on),
        FieldSchema("small", Int16.self, isOptional: true, isHot: true, isColumnar: on),
        FieldSchema("medium", Int32.self, isColumnar: on),
        FieldSchema("large", Int64.self, isHot: true, isColumnar: on),
        FieldSchema("byte", UInt8.self, isOptional: true, isColumnar: on),
        FieldSchema("short", UInt16.self, isColumnar: on),
        FieldSchema("word", UInt32.self, isColumnar: on),
        FieldSchema("long", UInt64.self, isColumnar: on),
        FieldSchema("ratio", Float.self, isOptional: true, isColumnar: on),
        FieldSchema("score", Double.self, isHot: true, isColumnar: on),
        FieldSchema("date", Date.self, isOptional: true, isHot: true, isColumnar: on),
        FieldSchema("flag", Bool.self, isOptional: true, isColumnar: on),
        FieldSchema("level", Measures.Level.self, isColumnar: on),
        FieldSchema("text", String.self),
      ]
    )
  }
}

/// A model with a column on every field but the text, or without columns.
struct Meter<Kind: MeterKind>: Model, Equatable {
  struct Columns: Sendable {
    let id = Column<Meter, Int>(position: 0)
    let tiny = Column<Meter, Int8>(position: 1)
    let small = Column<Meter, Int16?>(position: 2)
    let medium = Column<Meter, Int32>(position: 3)
    let large = Column<Meter, Int64>(position: 4)
    let byte = Column<Meter, UInt8?>(position: 5)
    let short = Column<Meter, UInt16>(position: 6)
    let word = Column<Meter, UInt32>(position: 7)
    let long = Column<Meter, UInt64>(position: 8)
    let ratio = Column<Meter, Float?>(position: 9)
    let score = Column<Meter, Double>(position: 10)
    let date = Column<Meter, Date?>(position: 11)
    let flag = Column<Meter, Bool?>(position: 12)
    let level = Column<Meter, Measures.Level>(position: 13)
    let text = Column<Meter, String>(position: 14)
  }

  static var columns: Columns { Columns() }
  static var schema: ModelSchema { Kind.schema }

  var id: Int
  var measures: Measures
  var primaryKey: Int { id }

  init(_ id: Int, _ measures: Measures = Measures()) {
    self.id = id
    self.measures = measures
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    var measures = Measures()
    measures.tiny = try record.value(at: 1)
    measures.small = try record.optional(at: 2)
    measures.medium = try record.value(at: 3)
    measures.large = try record.value(at: 4)
    measures.byte = try record.optional(at: 5)
    measures.short = try record.value(at: 6)
    measures.word = try record.value(at: 7)
    measures.long = try record.value(at: 8)
    measures.ratio = try record.optional(at: 9)
    measures.score = try record.value(at: 10)
    measures.date = try record.optional(at: 11)
    measures.flag = try record.optional(at: 12)
    measures.level = try record.value(at: 13)
    measures.text = try record.value(at: 14)
    self.measures = measures
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(measures.tiny)
    record.encode(measures.small)
    record.encode(measures.medium)
    record.encode(measures.large)
    record.encode(measures.byte)
    record.encode(measures.short)
    record.encode(measures.word)
    record.encode(measures.long)
    record.encode(measures.ratio)
    record.encode(measures.score)
    record.encode(measures.date)
    record.encode(measures.flag)
    record.encode(measures.level)
    record.encode(measures.text)
  }
}

/// A version of the model that knows only one field, without a column.
struct OlderMeter: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: WithColumns.schema.name,
    fields: [
      FieldSchema("text", String.self), FieldSchema("id", Int.self, isPrimaryKey: true),
    ]
  )

  var id: Int
  var text: String
  var primaryKey: Int { id }

  init(_ id: Int, _ text: String) {
    self.id = id
    self.text = text
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    text = try record.value(at: 0)
    id = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(text)
    record.encode(id)
  }
}
