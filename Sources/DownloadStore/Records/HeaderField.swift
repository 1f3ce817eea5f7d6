public import ObjectStore

/// One header field of a request or a response.
public struct HeaderField: Sendable, Hashable, Codable {
  /// The field's name.
  ///
  /// Names compare without case (RFC 9110, 5.1).
  public var name: String
  /// The field's value.
  public var value: String

  /// Makes a field.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension HeaderField: FieldValue {
  /// A value of its own coding.
  public static var fieldType: FieldType { .embedded("HeaderField") }

  /// Reads a field.
  public init(from reader: inout ByteReader) throws(RecordError) {
    name = try reader.readSized()
    value = try reader.readSized()
  }

  /// Writes the field.
  public func encode(to writer: inout ByteWriter) {
    writer.writeSized(name)
    writer.writeSized(value)
  }
}
