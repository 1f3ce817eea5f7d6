/// A type that a field of a model can have.
///
/// The standard types conform; an enumeration with raw values conforms by saying so. Other types
/// conform by writing themselves as ``FieldType/embedded(_:)``.
public protocol FieldValue: Sendable {
  /// How the value lies on disk.
  static var fieldType: FieldType { get }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  init(from reader: inout ByteReader) throws(RecordError)

  /// Appends the value's bytes: exactly ``FieldType/width`` of them where the type has one.
  func encode(to writer: inout ByteWriter)
}

extension FieldValue {
  /// The value's bytes, as the store has them.
  @usableFromInline
  var storedBytes: [UInt8] {
    var writer = ByteWriter()
    encode(to: &writer)
    return writer.bytes
  }
}

extension FieldValue where Self: RawRepresentable, RawValue: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { RawValue.fieldType }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    guard let value = Self(rawValue: try RawValue(from: &reader)) else {
      throw RecordError(.invalidValue)
    }
    self = value
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    rawValue.encode(to: &writer)
  }
}
