/// Collects the bytes of values.
///
/// Lent to ``FieldValue/encode(to:)``. It owns memory that it uses again, so that writing a record
/// allocates nothing.
@safe  // Although it holds a pointer: it is noncopyable, owns the memory, and checks each access.
public struct ByteWriter: ~Copyable {
  @usableFromInline var base: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int
  /// How many bytes were written so far.
  @usableFromInline var count = 0
  /// Where the next bytes go: into a slot that is there already, or to the end when negative.
  @usableFromInline var slot = -1

  /// Makes an empty writer.
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

  /// A copy of what was written so far.
  public var bytes: [UInt8] { unsafe Array(buffer) }

  /// What was written so far: valid until the next write.
  @unsafe
  @usableFromInline
  var buffer: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: base, count: count) }

  /// Appends an integer, little-endian.
  @inlinable
  @inline(__always)
  public mutating func write<Integer: FixedWidthInteger>(_ value: Integer) {
    let place = unsafe room(MemoryLayout<Integer>.size)
    unsafe place.storeBytes(of: value.littleEndian, as: Integer.self)
  }

  /// Appends bytes as they are.
  @inlinable
  public mutating func write(_ value: some Collection<UInt8>) {
    let isCopied: Void? = value.withContiguousStorageIfAvailable { bytes in
      unsafe append(UnsafeRawBufferPointer(bytes))
    }
    if isCopied == nil {
      for byte in value { write(byte) }
    }
  }

  /// Appends a value with its length before it, so that a reader can step over it.
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

  /// Room for so many bytes, which the caller fills at once.
  @unsafe
  @inlinable
  @inline(__always)
  mutating func room(_ size: Int) -> UnsafeMutableRawPointer {
    if slot >= 0 {
      precondition(slot + size <= count, "a value wrote more bytes than its type is wide")
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
    unsafe room(bytes.count).copyMemory(from: source, byteCount: bytes.count)
  }

  @inlinable
  mutating func appendZeros(_ size: Int) {
    unsafe room(size).initializeMemory(as: UInt8.self, repeating: 0, count: size)
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

  /// Makes room in the middle.
  mutating func insertZeros(_ size: Int, at offset: Int) {
    precondition((0...count).contains(offset))
    let tail = count - offset
    appendZeros(size)
    unsafe (base + offset + size).copyMemory(from: base + offset, byteCount: tail)
    unsafe (base + offset).initializeMemory(as: UInt8.self, repeating: 0, count: size)
  }

  /// Replaces bytes that are there.
  @unsafe
  mutating func overwrite(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    precondition(offset >= 0 && offset + bytes.count <= count)
    guard let source = bytes.baseAddress else { return }
    unsafe (base + offset).copyMemory(from: source, byteCount: bytes.count)
  }
}
