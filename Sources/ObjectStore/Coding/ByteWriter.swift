/// Collects the bytes of values.
public struct ByteWriter: Sendable {
  /// What was written so far.
  public internal(set) var bytes: [UInt8] = []

  /// Makes an empty writer.
  public init() {}

  /// Appends an integer, little-endian.
  @inlinable
  public mutating func write<Integer: FixedWidthInteger>(_ value: Integer) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe append($0) }
  }

  /// Appends bytes as they are.
  @inlinable
  public mutating func write(_ value: some Collection<UInt8>) {
    append(contentsOf: value)
  }

  /// Appends a value with its length before it, so that a reader can step over it.
  public mutating func writeSized<Value: FieldValue>(_ value: Value) {
    if Value.fieldType.width != nil {
      value.encode(to: &self)
      return
    }
    let start = bytes.count
    write(UInt32(0))
    value.encode(to: &self)
    patch(UInt32(bytes.count - start - 4), at: start)
  }

  @usableFromInline
  mutating func append(_ buffer: UnsafeRawBufferPointer) {
    unsafe bytes.append(contentsOf: buffer)
  }

  @usableFromInline
  mutating func append(contentsOf value: some Collection<UInt8>) {
    bytes.append(contentsOf: value)
  }

  mutating func appendZeros(_ count: Int) {
    bytes.append(contentsOf: repeatElement(0, count: count))
  }

  mutating func patch(_ value: UInt32, at offset: Int) {
    for index in 0..<4 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(index)))
    }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
  }
}
