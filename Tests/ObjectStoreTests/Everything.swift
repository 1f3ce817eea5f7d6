import Foundation
import ObjectStore

enum Colour: String, FieldValue, CaseIterable {
  case red, green, blue
}

/// An enumeration whose order differs from the order of its raw values.
enum Priority: String, FieldValue, Comparable, CaseIterable {
  case low, medium, high

  static func < (left: Priority, right: Priority) -> Bool {
    allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
  }
}

struct Point: FieldValue, Equatable {
  var x: Int32
  var y: Int32

  static var fieldType: FieldType { .embedded("Point") }

  init(x: Int32, y: Int32) {
    self.x = x
    self.y = y
  }

  init(from reader: inout ByteReader) throws(RecordError) {
    x = try reader.read()
    y = try reader.read()
  }

  func encode(to writer: inout ByteWriter) {
    writer.write(x)
    writer.write(y)
  }
}

/// A model with a field of every type.
struct Everything: Equatable {
  var id: Int64 = 1
  var flag = false
  var tiny: Int8 = 0
  var small: UInt16 = 0
  var count: UInt64 = 0
  var ratio: Float = 0
  var score: Double = 0
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var text = ""
  var bytes = Data()
  var colour = Colour.red
  var point = Point(x: 0, y: 0)
  var list: [String] = []
  var tags: Set<String> = []
  var map: [String: Int] = [:]
  var received: Int64 = 0
  var note: String?
  var age: Int?
  var hotNote: String?
}

extension Everything: Model {
  struct Columns: Sendable {
    let id = Column<Everything, Int64>(position: 0)
    let flag = Column<Everything, Bool>(position: 1)
    let tiny = Column<Everything, Int8>(position: 2)
    let small = Column<Everything, UInt16>(position: 3)
    let count = Column<Everything, UInt64>(position: 4)
    let ratio = Column<Everything, Float>(position: 5)
    let score = Column<Everything, Double>(position: 6)
    let date = Column<Everything, Date>(position: 7)
    let uuid = Column<Everything, UUID>(position: 8)
    let text = Column<Everything, String>(position: 9)
    let bytes = Column<Everything, Data>(position: 10)
    let colour = Column<Everything, Colour>(position: 11)
    let point = Column<Everything, Point>(position: 12)
    let list = Column<Everything, [String]>(position: 13)
    let tags = Column<Everything, Set<String>>(position: 14)
    let map = Column<Everything, [String: Int]>(position: 15)
    let received = Column<Everything, Int64>(position: 16)
    let note = Column<Everything, String?>(position: 17)
    let age = Column<Everything, Int?>(position: 18)
    let hotNote = Column<Everything, String?>(position: 19)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Everything",
    fields: [
      FieldSchema("id", Int64.self, isPrimaryKey: true),
      FieldSchema("flag", Bool.self),
      FieldSchema("tiny", Int8.self),
      FieldSchema("small", UInt16.self),
      FieldSchema("count", UInt64.self),
      FieldSchema("ratio", Float.self),
      FieldSchema("score", Double.self),
      FieldSchema("date", Date.self),
      FieldSchema("uuid", UUID.self),
      FieldSchema("text", String.self),
      FieldSchema("bytes", Data.self),
      FieldSchema("colour", Colour.self),
      FieldSchema("point", Point.self),
      FieldSchema("list", [String].self),
      FieldSchema("tags", Set<String>.self),
      FieldSchema("map", [String: Int].self),
      FieldSchema("received", Int64.self, isHot: true),
      FieldSchema("note", String.self, isOptional: true),
      FieldSchema("age", Int.self, isOptional: true),
      FieldSchema("hotNote", String.self, isOptional: true, isHot: true),
    ]
  )

  var primaryKey: Int64 { id }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    flag = try record.value(at: 1)
    tiny = try record.value(at: 2)
    small = try record.value(at: 3)
    count = try record.value(at: 4)
    ratio = try record.value(at: 5)
    score = try record.value(at: 6)
    date = try record.value(at: 7)
    uuid = try record.value(at: 8)
    text = try record.value(at: 9)
    bytes = try record.value(at: 10)
    colour = try record.value(at: 11)
    point = try record.value(at: 12)
    list = try record.value(at: 13)
    tags = try record.value(at: 14)
    map = try record.value(at: 15)
    received = try record.value(at: 16)
    note = try record.optional(at: 17)
    age = try record.optional(at: 18)
    hotNote = try record.optional(at: 19)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(flag)
    record.encode(tiny)
    record.encode(small)
    record.encode(count)
    record.encode(ratio)
    record.encode(score)
    record.encode(date)
    record.encode(uuid)
    record.encode(text)
    record.encode(bytes)
    record.encode(colour)
    record.encode(point)
    record.encode(list)
    record.encode(tags)
    record.encode(map)
    record.encode(received)
    record.encode(note)
    record.encode(age)
    record.encode(hotNote)
  }

  /// An object in which every field differs from its default.
  static let full = Everything(
    id: 7,
    flag: true,
    tiny: -3,
    small: 65_535,
    count: .max,
    ratio: -1.5,
    score: .pi,
    date: Date(timeIntervalSinceReferenceDate: 700_000_000.25),
    uuid: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
    text: "Grüße, 世界",
    bytes: Data([0, 255, 1]),
    colour: .blue,
    point: Point(x: -1, y: 2),
    list: ["b", "", "a"],
    tags: ["x", "yy"],
    map: ["one": 1, "two": 2],
    received: 1 << 40,
    note: "here",
    age: -1,
    hotNote: "hot"
  )
}
