internal import LMDB

/// Iterates over the entries of key ranges of an index, in ascending or descending order.
@unsafe
final class IndexScan {
  private let cursor: Cursor
  private let ranges: [KeyRange]
  private let isReversed: Bool
  private let model: String
  /// The position in `ranges` of the range being read.
  private var range = 0
  private var isInside = false
  private var cancellation = CancellationCheck()

  /// Creates a scan of ranges that are sorted and disjoint.
  init(
    _ reader: ModelReader,
    _ index: ModelTables.Index,
    _ ranges: [KeyRange],
    isReversed: Bool = false
  ) throws {
    unsafe cursor = unsafe try reader.transaction.cursor(on: index.database)
    unsafe self.ranges = isReversed ? ranges.reversed() : ranges
    unsafe self.isReversed = isReversed
    unsafe model = unsafe reader.tables.name
  }

  /// Returns the key of the next entry, valid until the next call; `nil` at the end.
  func next() throws -> UnsafeRawBufferPointer? {
    unsafe try cancellation.step()
    while unsafe range < ranges.count {
      let entry = unsafe isInside ? try move() : try enter()
      if let entry = unsafe entry, unsafe isInRange(entry.key) {
        unsafe isInside = true
        return unsafe entry.key
      }
      unsafe isInside = false
      unsafe range += 1
    }
    return nil
  }

  /// Returns the object ID of the next entry; `nil` at the end.
  func nextID() throws -> UInt64? {
    guard let key = unsafe try next() else { return nil }
    return unsafe try objectID(key)
  }

  /// Returns the object ID at the end of an entry's key.
  func objectID(_ key: UnsafeRawBufferPointer) throws -> UInt64 {
    guard let id = unsafe KeyEncoding.objectID(of: key) else {
      throw StoreError(
        .damaged,
        unsafe "an index entry of \(model) is too short to hold an object ID"
      )
    }
    return id
  }

  private func move() throws -> Cursor.Entry? {
    unsafe isReversed ? try cursor.previous() : try cursor.next()
  }

  private func enter() throws -> Cursor.Entry? {
    let range = unsafe ranges[range]
    guard unsafe isReversed else {
      guard !range.lower.isEmpty else { return unsafe try cursor.first() }
      return unsafe try range.lower.withUnsafeBytes { unsafe try cursor.first(atOrAfter: $0) }
    }
    guard let upper = range.upper else { return unsafe try cursor.last() }
    let above = try unsafe upper.withUnsafeBytes { unsafe try cursor.first(atOrAfter: $0) }
    return unsafe above == nil ? try cursor.last() : try cursor.previous()
  }

  private func isInRange(_ key: UnsafeRawBufferPointer) -> Bool {
    let range = unsafe ranges[range]
    if unsafe isReversed { return unsafe key.compare(to: range.lower) >= 0 }
    guard let upper = range.upper else { return true }
    return unsafe key.compare(to: upper) < 0
  }
}

extension ModelTables.Index {
  /// Returns the offset at which the content of the first truncated string in the key ends.
  ///
  /// Returns `nil` when the key contains no truncated string.
  func truncationOffset(_ key: UnsafeRawBufferPointer) -> Int? {
    var offset = 0
    for part in parts {
      guard let end = unsafe self.end(of: part, key, from: offset) else { return nil }
      if end.isTruncated { return end.offset - 10 }
      offset = end.offset
    }
    return nil
  }

  /// Returns the bytes of the key's first `count` parts, or `nil` when the key is shorter.
  func prefix(ofParts count: Int, of key: [UInt8]) -> [UInt8]? {
    unsafe key.withUnsafeBytes { bytes in
      var offset = 0
      for part in parts.prefix(count) {
        guard let end = unsafe self.end(of: part, bytes, from: offset) else { return nil }
        offset = end.offset
      }
      return Array(key.prefix(offset))
    }
  }

  /// Returns the offset after a part of the key, and whether the part is a truncated string.
  ///
  /// A truncated string ends with an escape and a hash: ten bytes in all.
  private func end(
    of part: Part,
    _ key: UnsafeRawBufferPointer,
    from start: Int
  ) -> (offset: Int, isTruncated: Bool)? {
    guard start < key.count else { return nil }
    guard unsafe key[start] != 0 else { return (start + 1, false) }
    if let width = part.width {
      let end = start + 1 + width
      return end <= key.count ? (end, false) : nil
    }
    var offset = start + 1
    while offset + 1 < key.count {
      let next = unsafe key[offset] == 0 ? key[offset + 1] : nil
      switch next {
      case nil: offset += 1
      case 0: return (offset + 2, false)
      case 1: return offset + 10 <= key.count ? (offset + 10, true) : nil
      default: offset += 2
      }
    }
    return nil
  }
}

/// Stops a long read when the task that runs it is cancelled.
///
/// `step()` checks for cancellation once in 256 calls, so that its cost per record is negligible.
package struct CancellationCheck {
  private(set) var steps: UInt32 = 0

  package init() {}

  @inline(__always)
  package mutating func step() throws {
    steps &+= 1
    if steps & 0xFF == 0 { try check() }
  }

  @inline(never)
  func check() throws {
    if Task.isCancelled { throw CancellationError() }
  }
}
