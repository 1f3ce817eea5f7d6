import Foundation
import ObjectStore

/// The expansion of `@Model`, with hot fields for the scalars that a checkpoint changes or a query
/// filters on.
extension Download: Model {
  struct Columns: Sendable {
    let state = Column<Download, UInt8>(position: 7)
    let received = Column<Download, Int64>(position: 11)
    let updatedAt = Column<Download, Date>(position: 13)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Download",
    fields: [
      FieldSchema("url", String.self, isPrimaryKey: true),
      FieldSchema("name", String.self),
      FieldSchema("destination", String.self),
      FieldSchema("type", String.self),
      FieldSchema("entityTag", String.self, isOptional: true),
      FieldSchema("tags", [String].self),
      FieldSchema("resumeBlob", Data.self, isOptional: true),
      FieldSchema("state", UInt8.self, isIndexed: true),
      FieldSchema("failedAttempts", Int32.self),
      FieldSchema("createdAt", Date.self),
      FieldSchema("completedAt", Date.self, isOptional: true),
      FieldSchema("received", Int64.self, isHot: true),
      FieldSchema("expected", Int64.self, isHot: true),
      FieldSchema("updatedAt", Date.self, isHot: true),
      FieldSchema("priority", Int32.self, isHot: true),
    ]
  )

  var primaryKey: String { url }

  init(from record: borrowing RecordView) throws(RecordError) {
    self.init(
      url: try record.value(at: 0),
      name: try record.value(at: 1),
      destination: try record.value(at: 2),
      type: try record.value(at: 3),
      entityTag: try record.optional(at: 4),
      tags: try record.value(at: 5),
      resumeBlob: try record.optional(at: 6),
      state: try record.value(at: 7),
      failedAttempts: try record.value(at: 8),
      createdAt: try record.value(at: 9),
      completedAt: try record.optional(at: 10),
      received: try record.value(at: 11),
      expected: try record.value(at: 12),
      updatedAt: try record.value(at: 13),
      priority: try record.value(at: 14)
    )
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(url)
    record.encode(name)
    record.encode(destination)
    record.encode(type)
    record.encode(entityTag)
    record.encode(tags)
    record.encode(resumeBlob)
    record.encode(state)
    record.encode(failedAttempts)
    record.encode(createdAt)
    record.encode(completedAt)
    record.encode(received)
    record.encode(expected)
    record.encode(updatedAt)
    record.encode(priority)
  }
}
