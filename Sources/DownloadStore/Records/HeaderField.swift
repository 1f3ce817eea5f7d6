public import ObjectStore

/// A header field of a request or a response.
public struct HeaderField: Sendable, Hashable, Codable {
  /// The field's name.
  ///
  /// Names are case-insensitive (RFC 9110, 5.1).
  public var name: String
  /// The field's value.
  public var value: String

  /// Creates a field.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension HeaderField: FieldValue {
  /// A custom encoding.
  public static var fieldType: FieldType { .embedded("HeaderField") }

  /// Decodes a field.
  public init(from reader: inout ByteReader) throws(RecordError) {
    name = try reader.readSized()
    value = try reader.readSized()
  }

  /// Encodes the field.
  public func encode(to writer: inout ByteWriter) {
    writer.writeSized(name)
    writer.writeSized(value)
  }
}
