/// Reads values one after another from bytes in the map.
///
/// Every step is checked against the end. A reader is lent to ``FieldValue/init(from:)`` and cannot be kept.
@safe  // Although it holds a pointer: it is noncopyable, only ever lent, and checks each access.
public struct ByteReader: ~Copyable {
  @usableFromInline let buffer: UnsafeRawBufferPointer
  @usableFromInline var offset = 0

  @inlinable
  init(_ buffer: UnsafeRawBufferPointer) {
    unsafe self.buffer = unsafe buffer
  }

  /// How many bytes are left.
  @inlinable public var remaining: Int { unsafe buffer.count - offset }

  /// Reads an integer, little-endian.
  ///
  /// - Throws: ``RecordError`` with `truncated`.
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

  /// Reads all bytes that are left as text.
  ///
  /// - Throws: ``RecordError`` with `invalidValue` when they are not UTF-8.
  public mutating func readString() throws(RecordError) -> String {
    let bytes = unsafe try take(remaining)
    // Decoding puts what is no UTF-8 right, and then the bytes differ: three times as quick as
    // `String(validating:as:)`.
    var text = unsafe String(decoding: bytes, as: UTF8.self)
    let isSame = text.withUTF8 { unsafe UnsafeRawBufferPointer($0).isSame(as: bytes) }
    guard isSame else { throw RecordError(.invalidValue) }
    return text
  }

  /// Reads all bytes that are left.
  public mutating func readBytes() throws(RecordError) -> [UInt8] {
    unsafe Array(try take(remaining))
  }

  /// Reads a value that ``ByteWriter/writeSized(_:)`` wrote.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue`.
  @inlinable
  public mutating func readSized<Value: FieldValue>(
    _ type: Value.Type = Value.self
  ) throws(RecordError) -> Value {
    var inner = unsafe ByteReader(try takeSized(Value.fieldType))
    return try Value(from: &inner)
  }

  /// The bytes of a value of that type that ``ByteWriter/writeSized(_:)`` wrote.
  @unsafe
  @inlinable
  mutating func takeSized(_ type: FieldType) throws(RecordError) -> UnsafeRawBufferPointer {
    if let width = type.width { return unsafe try take(width) }
    return unsafe try take(try readCount())
  }

  /// Reads a number of bytes or elements.
  ///
  /// One that no address space holds is one that lies.
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
