/// A type whose values an ``ObjectStore`` keeps.
///
/// `@Model`, of the module `ObjectStoreModel`, writes this conformance; it can be written by hand
/// just as well. A model is a plain value: what comes out of the store is a copy that no
/// transaction holds on to, and may go to any thread.
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
///       FieldSchema("text", String.self),
///     ])
///   public var primaryKey: Int64 { id }
///   public init(from record: borrowing RecordView) throws(RecordError) {
///     id = try record.value(at: 0)
///     text = try record.value(at: 1, default: "")
///   }
///   public func encode(to record: inout RecordEncoder) {
///     record.encode(id)
///     record.encode(text)
///   }
/// }
/// ```
public protocol Model: Sendable {
  /// The type of the field that tells one object from another.
  associatedtype PrimaryKey: FieldValue & Hashable
  /// A value with one ``Column`` for each stored field, under the field's name.
  associatedtype Columns: Sendable

  /// The name and the fields of the model, in the order in which they are encoded.
  static var schema: ModelSchema { get }
  /// What a query's closure is given.
  static var columns: Columns { get }
  /// The value of the primary key.
  var primaryKey: PrimaryKey { get }

  /// Reads every field, each by its position in ``schema``.
  ///
  /// - Throws: ``RecordError`` when the bytes are not what the schema promises.
  init(from record: borrowing RecordView) throws(RecordError)

  /// Writes every field, in the order of ``schema``.
  func encode(to record: inout RecordEncoder)

  /// Where the field of a property stands in ``schema``; `nil` for one that is not stored.
  ///
  /// For ``Query/init(translating:)``, which needs it of the properties that the predicate names.
  /// `@Model` says it of all; a model that is written by hand need not: by default it is `nil`.
  static func fieldPosition(of property: PartialKeyPath<Self>) -> Int?
}

extension Model {
  /// `nil`, for a model that is in no predicate of Foundation.
  public static func fieldPosition(of property: PartialKeyPath<Self>) -> Int? { nil }
}
