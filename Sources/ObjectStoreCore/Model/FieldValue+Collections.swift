extension Array: FieldValue where Element: FieldValue {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { .array(Element.fieldType) }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self = try reader.readElements()
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(UInt32(count))
    for element in self { writer.writeSized(element) }
  }
}

extension Set: FieldValue where Element: FieldValue {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { .set(Element.fieldType) }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(try reader.readElements(Element.self))
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(UInt32(count))
    // Sorted, so that equal sets have equal bytes: updates compare bytes to find changed fields.
    for element in sortedByBytes(self) { writer.write(element) }
  }
}

extension Dictionary: FieldValue where Key: FieldValue, Value: FieldValue {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { .dictionary(Key.fieldType, Value.fieldType) }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    let count = try reader.readCount()
    self.init()
    for _ in 0..<count {
      let key = try reader.readSized(Key.self)
      self[key] = try reader.readSized(Value.self)
    }
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(UInt32(count))
    let entries = map { key, value in
      var entry = ByteWriter()
      entry.writeSized(key)
      entry.writeSized(value)
      return entry.bytes
    }
    for entry in entries.sorted(by: { $0.lexicographicallyPrecedes($1) }) { writer.write(entry) }
  }
}

/// Returns the encoded values, including lengths, in the stored order of a set.
@inlinable
func sortedByBytes<Value: FieldValue>(_ values: some Collection<Value>) -> [[UInt8]] {
  values.map { value in
    var writer = ByteWriter()
    writer.writeSized(value)
    return writer.bytes
  }
  .sorted { $0.lexicographicallyPrecedes($1) }
}

extension ByteReader {
  @inlinable
  mutating func readElements<Element: FieldValue>(
    _ type: Element.Type = Element.self
  ) throws(RecordError) -> [Element] {
    let count = try readCount()
    var elements: [Element] = []
    // An element has at least one byte: a damaged count must not reserve more memory than that.
    elements.reserveCapacity(Swift.min(count, remaining))
    for _ in 0..<count { elements.append(try readSized()) }
    return elements
  }
}
