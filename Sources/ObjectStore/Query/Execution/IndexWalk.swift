internal import LMDB

/// The entries of some ranges of an index, in order or against it.
@unsafe
final class IndexWalk {
  private let cursor: Cursor
  private let ranges: [KeyRange]
  private let isReversed: Bool
  private let model: String
  /// The number of the range that is read.
  private var range = 0
  private var isInside = false
  private var pace = ReadPace()

  /// Walks through ranges that are in order and apart from each other.
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

  /// The key of the next entry: valid until the next call.
  func next() throws -> UnsafeRawBufferPointer? {
    unsafe try pace.step()
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

  /// The object of the next entry.
  func nextID() throws -> UInt64? {
    guard let key = unsafe try next() else { return nil }
    return unsafe try objectID(key)
  }

  /// The object of an entry.
  func objectID(_ key: UnsafeRawBufferPointer) throws -> UInt64 {
    guard let id = unsafe KeyEncoding.objectID(of: key) else {
      throw StoreError(.damaged, unsafe "an entry of an index of \(model) is cut off")
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
