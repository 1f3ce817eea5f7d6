// Expanded from Root.model by the @Model macro. Do not edit: change the template and run `make models`.
public import ObjectStore

/// A folder below which finished and partial files are stored.
///
/// Only roots have absolute paths. When a disk or an application container moves, one change
/// (``RecordStore/setRoot(_:named:)``) updates the paths of all its records.
public struct Root: Sendable, Hashable {
  /// The name by which records refer to the folder.
  public var name: String
  /// The absolute path of the folder.
  public var path: String
}

nonisolated extension Root: Model {
  /// The stored fields, each under its name.
  public nonisolated struct Columns: Sendable {
    /// The field `name`.
    public let name = Column<Root, String>(position: 0)
    /// The field `path`.
    public let path = Column<Root, String>(position: 1)
  }

  /// The stored fields, for use in queries.
  public static let columns = Columns()

  /// The name and the fields under which objects are stored.
  public static let schema = ModelSchema(
    name: "Root",
    fields: [
      FieldSchema("name", String.self, id: 1, isPrimaryKey: true),
      FieldSchema("path", String.self, id: 2),
    ]
  )

  /// The value of `name`, which tells one object from another.
  public var primaryKey: String { name }

  /// Reads every stored field.
  public init(from record: borrowing RecordView) throws(RecordError) {
    name = try record.value(at: 0)
    path = try record.value(at: 1)
  }

  /// Writes every stored field.
  public func encode(to record: inout RecordEncoder) {
    record.encode(name)
    record.encode(path)
  }

  /// Where the field of a property stands, for predicates of Foundation.
  public static func fieldPosition(of property: PartialKeyPath<Root>) -> Int? {
    let properties: [PartialKeyPath<Root>] = [
      \.name,
      \.path,
    ]
    return properties.firstIndex(of: property)
  }
}
