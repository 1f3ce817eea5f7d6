/// A type whose values an ``Store`` can store.
///
/// The macro `@Model` of the module `ObjectStoreModel` generates this conformance; it can also be
/// written by hand. A model is a plain value: an object read from the store is a copy that is
/// independent of the transaction and can be sent to any thread.
///
/// ```swift
/// extension Note: Model {
///   public struct Columns: Sendable {
///     public let id = Column<Note, Int64>(position: 0)
///     public let text = Column<Note, String>(position: 1)
///   }
///   public static let columns = Columns()
///   public static let schema = ModelSchema(
///     name: "Note",
///     fields: [
///       FieldSchema("id", Int64.self, isPrimaryKey: true),
///       FieldSchema("text", String.self, default: ""),
///     ])
///   public var primaryKey: Int64 { id }
///   public init(from record: borrowing RecordView) throws(RecordError) {
///     id = try record.value(at: 0)
///     text = try record.value(at: 1)
///   }
///   public func encode(to record: inout RecordEncoder) {
///     record.encode(id)
///     record.encode(text)
///   }
/// }
/// ```
public protocol Model: Sendable {
  /// The type of the field that identifies an object.
  associatedtype PrimaryKey: FieldValue & Hashable
  /// A type with one ``Column`` property for each stored field, with the field's name.
  associatedtype Columns: Sendable

  /// The name of the model, and its fields in the order in which they are encoded.
  static var schema: ModelSchema { get }
  /// The columns that the closure of a query receives.
  static var columns: Columns { get }
  /// The value of the primary key.
  ///
  /// A key that repeats the values of other fields has a type of its own, whose
  /// ``FieldValue/fieldType`` is ``FieldType/data``, and repeats no hot field. Writes of single
  /// fields can then check that they leave the key as it is.
  var primaryKey: PrimaryKey { get }

  /// Decodes all fields by their positions in ``schema``.
  ///
  /// - Throws: ``RecordError`` when the bytes do not match the schema.
  init(from record: borrowing RecordView) throws(RecordError)

  /// Encodes all fields in the order of ``schema``.
  func encode(to record: inout RecordEncoder)

  /// Returns the position of a property's field in ``schema``; `nil` for a property not stored.
  ///
  /// Only ``Query/init(translating:)`` needs it, for the properties in a Foundation predicate.
  /// `@Model` generates an implementation for all properties; the default returns `nil`.
  ///
  /// ```swift
  /// public static func fieldPosition(of property: PartialKeyPath<Note>) -> Int? {
  ///   let positions: [PartialKeyPath<Note>: Int] = [\.id: 0, \.text: 1]
  ///   return positions[property]
  /// }
  /// ```
  static func fieldPosition(of property: PartialKeyPath<Self>) -> Int?
}

extension Model {
  /// Returns `nil`: the model cannot be used in Foundation predicates.
  public static func fieldPosition(of property: PartialKeyPath<Self>) -> Int? { nil }
}

/// A reference to a stored field of a model in a query.
@frozen
public struct Column<Root: Model, Value: Sendable>: Sendable {
  /// The position of the field in ``ModelSchema/fields``.
  public let position: Int

  /// Creates a reference to the field at `position` in the model's schema.
  @inlinable
  public init(position: Int) {
    self.position = position
  }
}

/// A column of any type.
private protocol AnyColumn {
  var position: Int { get }
}

extension Column: AnyColumn {}

extension Model {
  /// The position of a column's field in the schema.
  ///
  /// - Precondition: The key path is that of a column.
  static func position(of path: PartialKeyPath<Columns>) -> Int {
    guard let column = columns[keyPath: path] as? any AnyColumn else {
      preconditionFailure("\(path) is not a column of \(schema.name)")
    }
    return column.position
  }
}
