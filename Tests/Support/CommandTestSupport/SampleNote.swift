package import ObjectStore
internal import SystemInterface

/// An object of a store that is not one of downloads.
package struct SampleNote: Model, Equatable {
  package struct Columns: Sendable {}
  package static let columns = Columns()
  package static let schema = ModelSchema(
    name: "Note",
    fields: [
      FieldSchema("id", Int.self, id: 1, isPrimaryKey: true),
      FieldSchema("text", String.self, id: 2, isIndexed: true),
      FieldSchema("rank", Int.self, id: 3, isOptional: true),
    ]
  )

  package var id: Int
  package var text: String
  package var rank: Int?
  package var primaryKey: Int { id }

  package init(id: Int, text: String? = nil, rank: Int? = nil) {
    self.id = id
    self.text = text ?? "the text of note \(id)"
    self.rank = rank
  }

  package init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    text = try record.value(at: 1)
    rank = try record.optional(at: 2)
  }

  package func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(text)
    record.encode(rank)
  }
}

/// A flag that one task sets and others read.
package final class Flag: Sendable {
  private let value = Mutex(false)

  package init() {}

  package var isSet: Bool { value.withLock { $0 } }
  package func set() { value.withLock { $0 = true } }
}
