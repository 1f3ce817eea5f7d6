extension Array: FieldValue where Element: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { .array(Element.fieldType) }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self = try reader.readElements()
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(UInt32(count))
    for element in self { writer.writeSized(element) }
  }
}

extension Set: FieldValue where Element: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { .set(Element.fieldType) }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(try reader.readElements(Element.self))
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(UInt32(count))
    // Equal sets have equal bytes, so that an unchanged one is seen to be unchanged.
    for element in sortedByBytes(self) { writer.write(element) }
  }
}

extension Dictionary: FieldValue where Key: FieldValue, Value: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { .dictionary(Key.fieldType, Value.fieldType) }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    let count = try reader.readCount()
    self.init()
    for _ in 0..<count {
      let key = try reader.readSized(Key.self)
      self[key] = try reader.readSized(Value.self)
    }
  }

  /// Appends the value's bytes.
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

/// The bytes of the values with their lengths, in the order of a set on disk.
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
    // Each element takes a byte at least; a count that lies must not reserve memory.
    elements.reserveCapacity(Swift.min(count, remaining))
    for _ in 0..<count { elements.append(try readSized()) }
    return elements
  }
}
