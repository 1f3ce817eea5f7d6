/// A sequential reader of encoded values.
///
/// Every read is checked against the end of the bytes. The store lends a reader to
/// ``FieldValue/init(from:)``: it is valid only during that call.
///
/// ```swift
/// init(from reader: inout ByteReader) throws(RecordError) {
///   guard try reader.read(UInt8.self) == 1 else { throw RecordError(.unknownCoding) }
///   title = try reader.readSized()
///   checksum = try reader.readBytes()
/// }
/// ```
@safe  // It holds a pointer, but it is noncopyable, only ever lent, and checks each access.
public struct ByteReader: ~Copyable {
  @usableFromInline let buffer: UnsafeRawBufferPointer
  @usableFromInline var offset = 0

  @inlinable
  package init(_ buffer: UnsafeRawBufferPointer) {
    unsafe self.buffer = unsafe buffer
  }

  /// Lends a reader of `bytes` to `body`.
  package static func reading<Value, Failure: Error>(
    _ bytes: [UInt8],
    _ body: (inout ByteReader) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try unsafe bytes.span.withUnsafeBytes { bytes throws(Failure) in
      var reader = unsafe ByteReader(bytes)
      return try body(&reader)
    }
  }

  /// Lends a reader of `bytes` to `body`.
  @inline(__always)
  package static func reading<Value>(
    _ bytes: RawSpan,
    _ body: (inout ByteReader) throws(RecordError) -> Value
  ) throws(RecordError) -> Value {
    try unsafe bytes.withUnsafeBytes { bytes throws(RecordError) in
      var reader = unsafe ByteReader(bytes)
      return try body(&reader)
    }
  }

  /// The number of bytes that have not been read.
  @inlinable public var remaining: Int { unsafe buffer.count - offset }

  /// Reads a little-endian integer.
  ///
  /// - Throws: ``RecordError`` with `truncated` when fewer bytes remain than the integer has.
  @inlinable
  @inline(__always)
  public mutating func read<Integer: FixedWidthInteger>(
    _ type: Integer.Type = Integer.self
  ) throws(RecordError) -> Integer {
    let size = MemoryLayout<Integer>.size
    guard size <= remaining else { throw RecordError(.truncated) }
    defer { offset += size }
    return unsafe Integer(littleEndian: buffer.loadUnaligned(fromByteOffset: offset, as: type))
  }

  /// Reads all remaining bytes as a string.
  ///
  /// - Throws: ``RecordError`` with `invalidValue` when they are not valid UTF-8.
  public mutating func readString() throws(RecordError) -> String {
    let bytes = unsafe try take(remaining)
    // `String(decoding:as:)` repairs invalid UTF-8, which changes the bytes. Decoding and comparing
    // is three times as fast as `String(validating:as:)`.
    var string = unsafe String(decoding: bytes, as: UTF8.self)
    let isValid = string.withUTF8 { unsafe UnsafeRawBufferPointer($0).isSame(as: bytes) }
    guard isValid else { throw RecordError(.invalidValue) }
    return string
  }

  /// Reads all remaining bytes.
  public mutating func readBytes() throws(RecordError) -> [UInt8] {
    unsafe Array(try take(remaining))
  }

  /// Reads some bytes.
  mutating func readBytes(_ count: Int) throws(RecordError) -> [UInt8] {
    unsafe Array(try take(count))
  }

  /// Reads some bytes as a string; throws as ``readString()``.
  mutating func readString(_ count: Int) throws(RecordError) -> String {
    var bytes = unsafe ByteReader(try take(count))
    return try bytes.readString()
  }

  /// Skips some bytes.
  mutating func skip(_ count: Int) throws(RecordError) { _ = unsafe try take(count) }

  /// Reads a value that ``ByteWriter/writeSized(_:)`` wrote.
  ///
  /// - Throws: ``RecordError`` with `truncated` when the bytes end inside the value, or
  ///   `invalidValue` when they do not encode a value of the type.
  @inlinable
  public mutating func readSized<Value: FieldValue>(
    _ type: Value.Type = Value.self
  ) throws(RecordError) -> Value {
    var inner = unsafe ByteReader(try takeSized(Value.fieldType))
    return try Value(from: &inner)
  }

  /// Reads the encoded bytes of a value of `type` that ``ByteWriter/writeSized(_:)`` wrote.
  @unsafe
  @inlinable
  mutating func takeSized(_ type: FieldType) throws(RecordError) -> UnsafeRawBufferPointer {
    if let width = type.width { return unsafe try take(width) }
    return unsafe try take(try readCount())
  }

  /// Lends the encoded bytes of a value of `type` that ``ByteWriter/writeSized(_:)`` wrote.
  mutating func withSized<Value>(
    _ type: FieldType,
    _ body: (RawSpan) throws(RecordError) -> Value
  ) throws(RecordError) -> Value {
    try body(unsafe takeSized(type).bytes)
  }

  /// Reads a 32-bit count of bytes or elements.
  ///
  /// A count that does not fit in `Int` exceeds any possible buffer and throws `truncated`.
  @inlinable
  mutating func readCount() throws(RecordError) -> Int {
    guard let count = Int(exactly: try read(UInt32.self)) else { throw RecordError(.truncated) }
    return count
  }

  @unsafe
  @inlinable
  mutating func take(_ count: Int) throws(RecordError) -> UnsafeRawBufferPointer {
    guard count >= 0, count <= remaining else { throw RecordError(.truncated) }
    defer { offset += count }
    return unsafe UnsafeRawBufferPointer(rebasing: buffer[offset..<offset + count])
  }
}
