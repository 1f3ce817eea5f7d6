/// A field's value that names an object of another model, or of the same, by its primary key.
///
/// The store sees to it that the object is there when the write ends, and does what the field's
/// ``DeleteRule`` says when it is deleted. A field of one reference, of an optional one, of an array
/// or of a set of them is always indexed, so that the objects that refer to another are found at
/// once; see ``Inverse``. References inside dictionaries and embedded values are not watched over.
///
/// ```swift
/// @Model struct Order {
///   @PrimaryKey var number: Int
///   var customer: Reference<Customer>
///   @OnDelete(.nullify) var courier: Reference<Courier>?
///   var tags: Set<Reference<Tag>> = []
/// }
/// try store.read { tx in
///   let order = try tx.get(Order.self, 7)
///   let customer = try order.flatMap { try tx.get($0.customer) }
/// }
/// ```
public struct Reference<Target: Model>: FieldValue, Hashable {
  /// The primary key of the object.
  public let key: Target.PrimaryKey

  /// Refers to the object of that primary key.
  @inlinable
  public init(_ key: Target.PrimaryKey) {
    self.key = key
  }

  /// Refers to an object.
  @inlinable
  public init(to object: Target) {
    key = object.primaryKey
  }

  /// How the value lies on disk: as the primary key does.
  @inlinable
  public static var fieldType: FieldType { Target.PrimaryKey.fieldType }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    key = try Target.PrimaryKey(from: &reader)
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    key.encode(to: &writer)
  }
}

extension Reference: Encodable where Target.PrimaryKey: Encodable {
  /// Writes the primary key alone.
  public func encode(to encoder: any Encoder) throws {
    try key.encode(to: encoder)
  }
}

extension Reference: Decodable where Target.PrimaryKey: Decodable {
  /// Reads the primary key.
  public init(from decoder: any Decoder) throws {
    key = try Target.PrimaryKey(from: decoder)
  }
}

extension Reference: CustomStringConvertible {
  /// The model's name and the primary key.
  public var description: String { "\(Target.schema.name) \(key)" }
}
