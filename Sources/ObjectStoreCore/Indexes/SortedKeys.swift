/// Keys of an index that are sorted once all of them are collected.
struct SortedKeys: ~Copyable {
  private struct Key {
    var start: UInt32
    var size: UInt16
  }

  private var bytes = ByteWriter(capacity: 4_096)
  private var keys: [Key] = []

  var count: Int { keys.count }
  /// The number of bytes in memory.
  var byteCount: Int { bytes.count + keys.count * MemoryLayout<Key>.stride }

  mutating func append(_ key: UnsafeRawBufferPointer) {
    keys.append(Key(start: UInt32(bytes.count), size: UInt16(key.count)))
    unsafe bytes.append(key)
  }

  mutating func sort() {
    let buffer = unsafe bytes.buffer
    keys.sort { left, right in
      let one = unsafe UnsafeRawBufferPointer(
        rebasing: buffer[Int(left.start)..<Int(left.start) + Int(left.size)]
      )
      let other = unsafe UnsafeRawBufferPointer(
        rebasing: buffer[Int(right.start)..<Int(right.start) + Int(right.size)]
      )
      return unsafe one.compare(to: other) < 0
    }
  }

  /// The key at a position, valid until the next change.
  @unsafe
  subscript(position: Int) -> UnsafeRawBufferPointer {
    let key = keys[position]
    return unsafe UnsafeRawBufferPointer(
      rebasing: bytes.buffer[Int(key.start)..<Int(key.start) + Int(key.size)]
    )
  }
}
