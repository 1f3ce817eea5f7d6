// An embedded value is the sequence of its fields, in the order in which they were added to the
// type. Fields missing at the end were added after the value was written; extra bytes at the end
// are fields of a later version.

extension ByteWriter {
  /// Appends the next field of an embedded value.
  ///
  /// Fields are stored without names: never reorder or remove them, and add new ones at the end.
  @inlinable
  public mutating func writeField<Value: FieldValue>(_ value: Value) {
    writeSized(value)
  }

  /// Appends the next field of an embedded value, which is optional.
  ///
  /// A byte, 0 for `nil` and 1 for a value, precedes the value.
  @inlinable
  public mutating func writeField<Value: FieldValue>(_ value: Value?) {
    write(value == nil ? 0 as UInt8 : 1)
    if let value { writeSized(value) }
  }
}

extension ByteReader {
  /// Reads the next field of an embedded value.
  ///
  /// - Throws: ``RecordError`` with `missingField` when the value was written before the field
  ///   existed; `invalidValue` or `truncated` when the bytes are damaged.
  @inlinable
  public mutating func readField<Value: FieldValue>(
    _ type: Value.Type = Value.self
  ) throws(RecordError) -> Value {
    guard remaining > 0 else { throw RecordError(.missingField) }
    return try readSized()
  }

  /// Reads the next field of an embedded value.
  ///
  /// Returns `fallback` when the value was written before the field existed.
  ///
  /// ```swift
  /// scale = try reader.readField(default: 1)
  /// ```
  ///
  /// - Throws: ``RecordError`` with `invalidValue` or `truncated` when the bytes are damaged.
  @inlinable
  public mutating func readField<Value: FieldValue>(
    default fallback: @autoclosure () -> Value
  ) throws(RecordError) -> Value {
    guard remaining > 0 else { return fallback() }
    return try readSized()
  }

  /// Reads the next field of an embedded value, which is optional.
  ///
  /// Returns `fallback` when the value was written before the field existed.
  ///
  /// ```swift
  /// label = try reader.readOptionalField()
  /// ```
  ///
  /// - Throws: ``RecordError`` with `invalidValue` or `truncated` when the bytes are damaged.
  @inlinable
  public mutating func readOptionalField<Value: FieldValue>(
    default fallback: @autoclosure () -> Value? = nil
  ) throws(RecordError) -> Value? {
    guard remaining > 0 else { return fallback() }
    switch try read(UInt8.self) {
    case 0: return nil
    case 1: return try readSized()
    default: throw RecordError(.invalidValue)
    }
  }
}
