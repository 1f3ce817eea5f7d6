// Expanded from EngineSettings.model by the @Model macro. Do not edit: change the template and run `make models`.
package import ObjectStore

/// The settings that each engine of the store follows, in addition to its own options.
///
/// A store has at most one object, named ``standardName``. Without it, nothing is set.
package struct EngineSettings: Sendable, Hashable {
  /// The name: ``standardName``.
  package var name: String
  /// The rate limit of all transfers together, in bytes per second; `nil` for none.
  package var bytesPerSecond: Int64?
}

nonisolated extension EngineSettings: ObjectStoreNames.Model {
  /// The stored fields, each under its name.
  package nonisolated struct Columns: Swift.Sendable {
    /// The field `name`.
    package let name = ObjectStoreNames.Column<EngineSettings, String>(position: 0)
    /// The field `bytesPerSecond`.
    package let bytesPerSecond = ObjectStoreNames.Column<EngineSettings, Int64?>(position: 1)
  }

  /// The stored fields, for use in queries.
  package static let columns = Columns()

  /// The name and the fields under which objects are stored.
  package static let schema = ObjectStoreNames.ModelSchema(
    name: "EngineSettings",
    fields: [
      ObjectStoreNames.FieldSchema("name", String.self, id: 1, isPrimaryKey: true),
      ObjectStoreNames.FieldSchema("bytesPerSecond", Int64.self, id: 2, isOptional: true),
    ]
  )

  /// The value of `name`, which tells one object from another.
  package var primaryKey: String { name }

  /// Reads every stored field.
  package init(
    from record: borrowing ObjectStoreNames.RecordView
  ) throws(ObjectStoreNames.RecordError) {
    name = try record.value(at: 0)
    bytesPerSecond = try record.optional(at: 1)
  }

  /// Writes every stored field.
  package func encode(to record: inout ObjectStoreNames.RecordEncoder) {
    record.encode(name)
    record.encode(bytesPerSecond)
  }

  /// Where the field of a property stands, for predicates of Foundation.
  package static func fieldPosition(of property: Swift.PartialKeyPath<EngineSettings>) -> Swift.Int?
  {
    let properties: [Swift.PartialKeyPath<EngineSettings>] = [
      \.name,
      \.bytesPerSecond,
    ]
    return properties.firstIndex(of: property)
  }
}
