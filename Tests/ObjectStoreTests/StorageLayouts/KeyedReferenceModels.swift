import Foundation
import ObjectStore

/// A model in either layout, for the tests of references between layouts.
protocol LayoutTag: Sendable, SendableMetatype {
  static var layout: StorageLayout { get }
}

enum Sequential: LayoutTag { static var layout: StorageLayout { .sequential } }
enum ByKey: LayoutTag { static var layout: StorageLayout { .byKey } }

/// A model to which ``Remark`` refers.
struct Topic<Layout: LayoutTag>: Model, Hashable {
  struct Columns: Sendable {
    let name = Column<Topic, String>(position: 0)
  }

  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Topic",
      fields: [FieldSchema("name", String.self, isPrimaryKey: true)],
      layout: Layout.layout
    )
  }

  var name: String
  var primaryKey: String { name }

  init(_ name: String) { self.name = name }

  init(from record: borrowing RecordView) throws(RecordError) {
    name = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) { record.encode(name) }
}

/// A model with one reference for each delete rule.
struct Remark<Layout: LayoutTag, Target: LayoutTag>: Model, Equatable {
  struct Columns: Sendable {
    let id = Column<Remark, Int>(position: 0)
    let about = Column<Remark, Reference<Topic<Target>>?>(position: 1)
    let part = Column<Remark, Reference<Topic<Target>>?>(position: 2)
    let needed = Column<Remark, Reference<Topic<Target>>?>(position: 3)
  }

  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    let topic = Reference<Topic<Target>>.self
    return ModelSchema(
      name: "Remark",
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true),
        FieldSchema("about", topic, isOptional: true, onDelete: .nullify),
        FieldSchema("part", topic, isOptional: true, onDelete: .cascade),
        FieldSchema("needed", topic, isOptional: true, onDelete: .deny),
      ],
      layout: Layout.layout
    )
  }

  var id: Int
  var about: Reference<Topic<Target>>?
  var part: Reference<Topic<Target>>?
  var needed: Reference<Topic<Target>>?
  var primaryKey: Int { id }

  init(
    id: Int,
    about: Topic<Target>? = nil,
    part: Topic<Target>? = nil,
    needed: Topic<Target>? = nil
  ) {
    self.id = id
    self.about = about.map { Reference(to: $0) }
    self.part = part.map { Reference(to: $0) }
    self.needed = needed.map { Reference(to: $0) }
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    about = try record.optional(at: 1)
    part = try record.optional(at: 2)
    needed = try record.optional(at: 3)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(about)
    record.encode(part)
    record.encode(needed)
  }
}
