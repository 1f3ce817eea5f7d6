import ObjectStore
import SystemInterface

/// An object of a store that is not one of downloads.
struct SampleNote: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Note",
    fields: [
      FieldSchema("id", Int.self, id: 1, isPrimaryKey: true),
      FieldSchema("text", String.self, id: 2, isIndexed: true),
      FieldSchema("rank", Int.self, id: 3, isOptional: true),
    ]
  )

  var id: Int
  var text: String
  var rank: Int?
  var primaryKey: Int { id }

  init(id: Int, text: String? = nil, rank: Int? = nil) {
    self.id = id
    self.text = text ?? "the text of note \(id)"
    self.rank = rank
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    text = try record.value(at: 1)
    rank = try record.optional(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(text)
    record.encode(rank)
  }
}

/// A flag that one task sets and others read.
final class Flag: Sendable {
  private let value = Mutex(false)

  var isSet: Bool { value.withLock { $0 } }
  func set() { value.withLock { $0 = true } }
}
