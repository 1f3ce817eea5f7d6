import Foundation
import ObjectStore

/// A value with an encoding of its own.
struct Size: FieldValue, Equatable {
  var width: Int32

  static var fieldType: FieldType { .embedded("Size") }

  init(width: Int32) { self.width = width }
  init(from reader: inout ByteReader) throws(RecordError) { width = try reader.read() }
  func encode(to writer: inout ByteWriter) { writer.write(width) }
}

/// An object with collections, an embedded value, a column and a hot field.
struct SampleShelf: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Shelf",
    fields: [
      FieldSchema("id", Int.self, id: 1, isPrimaryKey: true),
      FieldSchema("name", String.self, id: 2, isIndexed: true),
      FieldSchema("height", Int64.self, id: 3, isColumnar: true),
      FieldSchema("load", Double.self, id: 4, isHot: true),
      FieldSchema("tags", Set<String>.self, id: 5, isIndexed: true),
      FieldSchema("rows", [String].self, id: 6),
      FieldSchema("counts", [String: Int].self, id: 7),
      FieldSchema("size", Size.self, id: 8),
      FieldSchema("at", Date.self, id: 9, isOptional: true, isIndexed: true),
    ]
  )

  var id: Int
  var name: String
  var height: Int64 = 0
  var load: Double = 0
  var tags: Set<String> = []
  var rows: [String] = []
  var counts: [String: Int] = [:]
  var size = Size(width: 1)
  var at: Date?
  var primaryKey: Int { id }

  init(_ id: Int, _ name: String, height: Int64 = 0, load: Double = 0, tags: Set<String> = []) {
    (self.id, self.name, self.height, self.load, self.tags) = (id, name, height, load, tags)
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    name = try record.value(at: 1)
    height = try record.value(at: 2)
    load = try record.value(at: 3)
    tags = try record.value(at: 4)
    rows = try record.value(at: 5)
    counts = try record.value(at: 6)
    size = try record.value(at: 7)
    at = try record.optional(at: 8)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(name)
    record.encode(height)
    record.encode(load)
    record.encode(tags)
    record.encode(rows)
    record.encode(counts)
    record.encode(size)
    record.encode(at)
  }
}

/// An object that is stored by the hash of its key, and refers to a shelf.
struct SamplePage: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Page",
    fields: [
      FieldSchema("url", String.self, id: 1, isPrimaryKey: true),
      FieldSchema(
        "shelf",
        Reference<SampleShelf>.self,
        id: 2,
        isOptional: true,
        onDelete: .nullify
      ),
      FieldSchema("bytes", Data.self, id: 3),
    ],
    layout: .byKey
  )

  var url: String
  var shelf: Reference<SampleShelf>?
  var bytes = Data()
  var primaryKey: String { url }

  init(_ url: String, shelf: Int? = nil, bytes: Data = Data()) {
    self.url = url
    self.shelf = shelf.map { Reference($0) }
    self.bytes = bytes
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    url = try record.value(at: 0)
    shelf = try record.optional(at: 1)
    bytes = try record.value(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(url)
    record.encode(shelf)
    record.encode(bytes)
  }
}
