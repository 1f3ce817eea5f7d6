/// A reference to an object of another model, or of the same model, by its primary key.
///
/// When a write transaction commits, the store checks that the target exists. When the target is
/// deleted, the store applies the field's ``DeleteRule``. A field that is a reference, an optional
/// reference, or an array or a set of references is always indexed, so referring objects are found
/// quickly; see ``Inverse``. References inside dictionaries and embedded values are not checked.
///
/// ```swift
/// @Model struct Order {
///   @PrimaryKey var number: Int
///   var customer: Reference<Customer>
///   @OnDelete(.nullify) var courier: Reference<Courier>?
///   var tags: Set<Reference<Tag>> = []
/// }
/// try store.read { tx in
///   let order = try tx.find(Order.self, key: 7)
///   let customer = try order.flatMap { try tx.find($0.customer) }
/// }
/// ```
public struct Reference<Target: Model>: FieldValue, Hashable {
  /// The primary key of the target.
  public let key: Target.PrimaryKey

  /// Creates a reference to the object with a primary key, which need not exist yet.
  @inlinable
  public init(_ key: Target.PrimaryKey) {
    self.key = key
  }

  /// Creates a reference to an object.
  @inlinable
  public init(to object: Target) {
    key = object.primaryKey
  }

  /// The stored type, which is that of the target's primary key.
  @inlinable
  public static var fieldType: FieldType { Target.PrimaryKey.fieldType }

  /// Decodes a reference from the remaining bytes of a reader.
  ///
  /// - Throws: ``RecordError`` when the bytes are not a valid primary key.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    key = try Target.PrimaryKey(from: &reader)
  }

  /// Appends the stored form of the primary key.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    key.encode(to: &writer)
  }
}

extension Reference: Encodable where Target.PrimaryKey: Encodable {
  /// Encodes the primary key alone.
  public func encode(to encoder: any Encoder) throws {
    try key.encode(to: encoder)
  }
}

extension Reference: Decodable where Target.PrimaryKey: Decodable {
  /// Decodes the primary key.
  public init(from decoder: any Decoder) throws {
    key = try Target.PrimaryKey(from: decoder)
  }
}

extension Reference: CustomStringConvertible {
  /// The name of the model and the primary key.
  public var description: String { "\(Target.schema.name) \(key)" }
}
