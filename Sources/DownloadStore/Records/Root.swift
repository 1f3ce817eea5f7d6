// Expanded from Root.model by the @Model macro. Do not edit: change the template and run `make models`.
package import ObjectStore

/// A folder below which finished and partial files are stored.
///
/// Only roots have absolute paths. When a disk or an application container moves, one change
/// (``RecordStore/setRoot(_:named:)``) updates the paths of all its records.
package struct Root: Sendable, Hashable {
  /// The name by which records refer to the folder.
  package var name: String
  /// The absolute path of the folder.
  package var path: String
}

nonisolated extension Root: ObjectStoreNames.Model {
  /// The stored fields, each under its name.
  package nonisolated struct Columns: Swift.Sendable {
    /// The field `name`.
    package let name = ObjectStoreNames.Column<Root, String>(position: 0)
    /// The field `path`.
    package let path = ObjectStoreNames.Column<Root, String>(position: 1)
  }

  /// The stored fields, for use in queries.
  package static let columns = Columns()

  /// The name and the fields under which objects are stored.
  package static let schema = ObjectStoreNames.ModelSchema(
    name: "Root",
    fields: [
      ObjectStoreNames.FieldSchema("name", String.self, id: 1, isPrimaryKey: true),
      ObjectStoreNames.FieldSchema("path", String.self, id: 2),
    ]
  )

  /// The value of `name`, which tells one object from another.
  package var primaryKey: String { name }

  /// Reads every stored field.
  package init(
    from record: borrowing ObjectStoreNames.RecordView
  ) throws(ObjectStoreNames.RecordError) {
    name = try record.value(at: 0)
    path = try record.value(at: 1)
  }

  /// Writes every stored field.
  package func encode(to record: inout ObjectStoreNames.RecordEncoder) {
    record.encode(name)
    record.encode(path)
  }

  /// Where the field of a property stands, for predicates of Foundation.
  package static func fieldPosition(of property: Swift.PartialKeyPath<Root>) -> Swift.Int? {
    let properties: [Swift.PartialKeyPath<Root>] = [
      \.name,
      \.path,
    ]
    return properties.firstIndex(of: property)
  }
}
