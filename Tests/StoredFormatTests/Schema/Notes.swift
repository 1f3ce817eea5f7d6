import ObjectStore

/// A model whose fields are texts, with a schema of its own.
protocol NoteSchema: Sendable {
  static var schema: ModelSchema { get }
}

/// An object of a version of the model `Note`, which reads and writes as `@Model` would.
struct AnyNote<Version: NoteSchema>: Model {
  struct Columns: Sendable {}
  static var columns: Columns { Columns() }
  static var schema: ModelSchema { Version.schema }

  var primaryKey: String
  /// The values of the other fields by name.
  var values: [String: String] = [:]

  init(id: String, _ values: [String: String] = [:]) {
    primaryKey = id
    self.values = values
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    var key = ""
    for (position, field) in Self.schema.fields.enumerated() {
      if field.isPrimaryKey {
        key = try record.value(at: position)
      } else if field.isOptional {
        values[field.name] = try record.optional(at: position)
      } else {
        values[field.name] = try record.value(at: position) as String
      }
    }
    primaryKey = key
  }

  func encode(to record: inout RecordEncoder) {
    for field in Self.schema.fields {
      if field.isPrimaryKey {
        record.encode(primaryKey)
      } else if field.isOptional {
        record.encode(values[field.name])
      } else {
        record.encode(values[field.name] ?? "")
      }
    }
  }
}

enum TextSchema: NoteSchema {
  static let schema = ModelSchema(
    name: "Note",
    fields: [
      FieldSchema("id", String.self, isPrimaryKey: true), FieldSchema("text", String.self),
    ]
  )
}

/// A note with a text.
typealias Note = AnyNote<TextSchema>

enum IndexedSchema: NoteSchema {
  static let schema = ModelSchema(
    name: "Note",
    fields: [
      FieldSchema("id", String.self, isPrimaryKey: true),
      FieldSchema("text", String.self, isIndexed: true),
    ]
  )
}

/// The same with an index.
typealias IndexedNote = AnyNote<IndexedSchema>
