import CommandTestSupport
import Foundation
import ObjectStore

/// An object with a field of each kind, and a unique index.
struct SampleVisit: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Visit",
    fields: [
      FieldSchema("key", String.self, id: 1, isPrimaryKey: true),
      FieldSchema("number", Int32.self, id: 2, isUnique: true),
      FieldSchema("at", Date.self, id: 3, isOptional: true),
      FieldSchema("length", Double.self, id: 4, isOptional: true),
      FieldSchema("isDone", Bool.self, id: 5, isOptional: true),
      FieldSchema("photo", Data.self, id: 6, isOptional: true),
      FieldSchema("remark", String.self, id: 7, isOptional: true),
      FieldSchema("tags", Set<String>.self, id: 8, isOptional: true),
      FieldSchema("note", Reference<SampleNote>.self, id: 9, isOptional: true, onDelete: .nullify),
    ]
  )

  var key: String
  var number: Int32
  var at: Date?
  var length: Double?
  var isDone: Bool?
  var photo: Data?
  var remark: String?
  var tags: Set<String>?
  var note: Reference<SampleNote>?
  var primaryKey: String { key }

  init(_ key: String, _ number: Int32) {
    self.key = key
    self.number = number
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    key = try record.value(at: 0)
    number = try record.value(at: 1)
    at = try record.optional(at: 2)
    length = try record.optional(at: 3)
    isDone = try record.optional(at: 4)
    photo = try record.optional(at: 5)
    remark = try record.optional(at: 6)
    tags = try record.optional(at: 7)
    note = try record.optional(at: 8)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(key)
    record.encode(number)
    record.encode(at)
    record.encode(length)
    record.encode(isDone)
    record.encode(photo)
    record.encode(remark)
    record.encode(tags)
    record.encode(note)
  }
}
