import ObjectStore

/// A model with the name and the fields of another one, stored by key.
///
/// A store that a program with this model creates keeps the objects by key, also for programs with
/// the other model.
struct Keyed<Base: Model>: Model {
  struct Columns: Sendable {}
  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(name: Base.schema.name, fields: Base.schema.fields, layout: .byKey)
  }

  var base: Base
  var primaryKey: Base.PrimaryKey { base.primaryKey }

  init(_ base: Base) { self.base = base }

  init(from record: borrowing RecordView) throws(RecordError) {
    base = try Base(from: record)
  }

  func encode(to record: inout RecordEncoder) { base.encode(to: &record) }
}
