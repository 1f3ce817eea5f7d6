/// A sorted selection of keys: all that are inserted, or the smallest ones up to a limit.
///
/// Each key ends with an object ID of eight bytes in big-endian order, which makes it unique. With a
/// limit, up to twice as many keys are in memory: they are sorted when they are that many, and the
/// greater half is dropped.
struct KeySelection: ~Copyable {
  /// The number of keys at which a selection with a small limit is sorted.
  private static let smallest = 256

  private let limit: Int
  private var keys = PackedKeys()
  /// The greatest key that was kept when keys were last dropped; keys that are not smaller are
  /// ignored.
  private(set) var bound: [UInt8]?

  init(limit: Int) {
    self.limit = limit
  }

  /// Inserts a key if it may be among the smallest.
  ///
  /// - Returns: Whether ``bound`` has changed.
  mutating func insert(_ key: UnsafeRawBufferPointer) -> Bool {
    guard limit > 0 else { return false }
    if let bound, unsafe key.compare(to: bound) >= 0 { return false }
    unsafe keys.append(key)
    guard limit <= Int.max / 2, keys.count >= max(2 * limit, Self.smallest) else { return false }
    bound = keys.keepSmallest(limit)
    return true
  }

  /// Inserts a key if it may be among the smallest; see ``insert(_:)``.
  mutating func insert(_ key: borrowing ByteWriter) {
    _ = unsafe insert(key.buffer)
  }

  /// Returns the object IDs at the end of the keys, in the order of the keys.
  consuming func sortedIDs() -> [UInt64] {
    keys.sortedIDs(limit: limit)
  }
}

/// Keys in a few large buffers: 20 bytes for each key besides its own.
///
/// An array of arrays would take about 60 bytes for each key, and most of the time of a sort to
/// count references.
private struct PackedKeys: ~Copyable {
  private struct Entry {
    /// The first eight bytes of the key as a big-endian number.
    var prefix: UInt64
    var chunk: UInt32
    var offset: UInt32
  }

  private static let chunkSizes = 1 << 12...1 << 20

  private var entries: [Entry] = []
  /// Buffers that never grow beyond their first capacity.
  ///
  /// A key is preceded by its length.
  private var chunks: [[UInt8]] = []
  /// The capacity of the last buffer.
  private var room = 0

  var count: Int { entries.count }

  mutating func append(_ key: UnsafeRawBufferPointer) {
    let size = key.count + 4
    if room == 0 || chunks[chunks.count - 1].count + size > room {
      // The first buffer of a small selection is small.
      room = max(size, min(max(2 * room, Self.chunkSizes.lowerBound), Self.chunkSizes.upperBound))
      var chunk: [UInt8] = []
      chunk.reserveCapacity(room)
      chunks.append(chunk)
    }
    let last = chunks.count - 1
    let prefix = unsafe UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
    entries.append(
      Entry(prefix: prefix, chunk: UInt32(last), offset: UInt32(chunks[last].count))
    )
    unsafe withUnsafeBytes(of: UInt32(key.count)) { size in
      unsafe chunks[last].append(contentsOf: size)
    }
    unsafe chunks[last].append(contentsOf: key)
  }

  /// Drops all keys but the smallest, and returns the greatest of these.
  mutating func keepSmallest(_ limit: Int) -> [UInt8]? {
    sort()
    var kept = PackedKeys()
    for entry in entries.prefix(limit) {
      unsafe Self.withKey(entry, in: chunks) { key in unsafe kept.append(key) }
    }
    self = kept
    return entries.last.map { entry in
      unsafe Self.withKey(entry, in: chunks) { key in unsafe Array(key) }
    }
  }

  consuming func sortedIDs(limit: Int) -> [UInt64] {
    sort()
    return entries.prefix(limit).map { entry in
      unsafe Self.withKey(entry, in: chunks) { key in
        unsafe UInt64(
          bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self)
        )
      }
    }
  }

  private mutating func sort() {
    let chunks = chunks
    entries.sort { left, right in
      guard left.prefix == right.prefix else { return left.prefix < right.prefix }
      return unsafe Self.withKey(left, in: chunks) { one in
        unsafe Self.withKey(right, in: chunks) { other in unsafe one.compare(to: other) < 0 }
      }
    }
  }

  private static func withKey<R>(
    _ entry: Entry,
    in chunks: [[UInt8]],
    _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    unsafe chunks[Int(entry.chunk)].withUnsafeBytes { bytes in
      let start = Int(entry.offset) + 4
      let count = unsafe bytes.loadUnaligned(fromByteOffset: start - 4, as: UInt32.self)
      return unsafe body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(count)]))
    }
  }
}
