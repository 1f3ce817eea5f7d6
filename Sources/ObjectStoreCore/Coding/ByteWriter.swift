/// A growable buffer that values are encoded into.
///
/// The store lends a writer to ``FieldValue/encode(to:)``. It reuses its memory for the next
/// record, so encoding a record usually allocates nothing.
///
/// ```swift
/// func encode(to writer: inout ByteWriter) {
///   writer.write(1 as UInt8)
///   writer.writeSized(title)
///   writer.write(checksum)
/// }
/// ```
@safe  // It holds a pointer, but it is noncopyable, owns the memory, and checks each access.
public struct ByteWriter: ~Copyable {
  @usableFromInline var base: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int
  /// The number of bytes written.
  @usableFromInline var count = 0
  /// The offset of the fixed-width slot that the next write fills; negative appends at the end.
  @usableFromInline var slot = -1

  /// Creates an empty writer.
  @inlinable
  public init() {
    self.init(capacity: 64)
  }

  @inlinable
  init(capacity: Int) {
    unsafe base = .allocate(byteCount: capacity, alignment: 8)
    self.capacity = capacity
  }

  deinit {
    unsafe base.deallocate()
  }

  /// A copy of the bytes written so far.
  public var bytes: [UInt8] { unsafe Array(buffer) }

  /// The bytes written so far, valid until the next write.
  @unsafe
  @usableFromInline
  var buffer: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: base, count: count) }

  /// Appends an integer in little-endian byte order.
  @inlinable
  @inline(__always)
  public mutating func write<Integer: FixedWidthInteger>(_ value: Integer) {
    let destination = unsafe reserve(MemoryLayout<Integer>.size)
    unsafe destination.storeBytes(of: value.littleEndian, as: Integer.self)
  }

  /// Appends raw bytes without a length.
  @inlinable
  public mutating func write(_ value: some Collection<UInt8>) {
    let isCopied: Void? = value.withContiguousStorageIfAvailable { bytes in
      unsafe append(UnsafeRawBufferPointer(bytes))
    }
    if isCopied == nil {
      for byte in value { write(byte) }
    }
  }

  /// Appends a value so that a reader can skip it.
  ///
  /// A value of variable width is preceded by its length in bytes as a `UInt32`; a value of fixed
  /// width is written as it is. ``ByteReader/readSized(_:)`` reads it.
  @inlinable
  public mutating func writeSized<Value: FieldValue>(_ value: Value) {
    if Value.fieldType.width != nil {
      value.encode(to: &self)
      return
    }
    let start = count
    write(UInt32(0))
    value.encode(to: &self)
    patch(UInt32(count - start - 4), at: start)
  }

  /// Reserves `size` bytes, which the caller must fill before the next write.
  @unsafe
  @inlinable
  @inline(__always)
  mutating func reserve(_ size: Int) -> UnsafeMutableRawPointer {
    if slot >= 0 {
      precondition(slot + size <= count, "a value encoded more bytes than its field type's width")
      defer { slot += size }
      return unsafe base + slot
    }
    if count + size > capacity { grow(by: size) }
    defer { count += size }
    return unsafe base + count
  }

  @usableFromInline
  @inline(never)
  mutating func grow(by size: Int) {
    let larger = max(capacity * 2, count + size)
    let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
    unsafe moved.copyMemory(from: base, byteCount: count)
    unsafe base.deallocate()
    unsafe base = unsafe moved
    capacity = larger
  }

  @unsafe
  @inlinable
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    unsafe reserve(bytes.count).copyMemory(from: source, byteCount: bytes.count)
  }

  @inlinable
  mutating func appendZeros(_ size: Int) {
    unsafe reserve(size).initializeMemory(as: UInt8.self, repeating: 0, count: size)
  }

  @inlinable
  mutating func patch<Integer: FixedWidthInteger>(_ value: Integer, at offset: Int) {
    precondition(offset >= 0 && offset + MemoryLayout<Integer>.size <= count)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Integer.self)
  }

  @inlinable
  mutating func removeAll() {
    count = 0
  }

  /// Inserts `size` zero bytes at `offset` and moves the bytes behind them.
  mutating func insertZeros(_ size: Int, at offset: Int) {
    precondition((0...count).contains(offset))
    let tail = count - offset
    appendZeros(size)
    unsafe (base + offset + size).copyMemory(from: base + offset, byteCount: tail)
    unsafe (base + offset).initializeMemory(as: UInt8.self, repeating: 0, count: size)
  }

  /// Replaces existing bytes at `offset`.
  @unsafe
  mutating func overwrite(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    precondition(offset >= 0 && offset + bytes.count <= count)
    guard let source = bytes.baseAddress else { return }
    unsafe (base + offset).copyMemory(from: source, byteCount: bytes.count)
  }
}
