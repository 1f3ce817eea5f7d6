/// Sorts matches into the order of a query, keeping all of them or the first `limit`.
struct Sorter: ~Copyable {
  private let order: SortOrder
  /// Matches whose sort key is not greater than this are ignored.
  private let start: [UInt8]?
  private var keys: KeySelection
  private var key = ByteWriter()
  /// The number form of the most significant sort column, when that column is a number.
  private let leading: NumberForm?
  /// The word of that column in the bound of ``keys``.
  ///
  /// Inverted for a descending column. Most later records are rejected by this comparison alone,
  /// without building their sort key.
  private var boundWord: UInt64?

  init(_ order: SortOrder, limit: Int, after start: [UInt8]?) {
    self.order = order
    self.start = start
    keys = KeySelection(limit: limit)
    leading = order.columns.first.flatMap { NumberForm($0) }
  }

  mutating func add(_ record: borrowing RecordView, _ id: UInt64) throws(RecordError) {
    guard !(try sortsAfterBound(record)) else { return }
    try order.write(record, id, to: &key)
    insertKey()
  }

  /// Adds a match whose only sort column is a number, given as its word or `nil`.
  mutating func add(_ word: UInt64?, _ id: UInt64) {
    guard let leading else { return }
    let flip: UInt64 = order.columns[0].direction == .ascending ? 0 : .max
    if let boundWord, let word, (word ^ flip) & leading.mask > boundWord { return }
    key.removeAll()
    key.write((word == nil ? 0 as UInt8 : 1) ^ UInt8(truncatingIfNeeded: flip))
    if let word {
      for shift in stride(from: leading.width * 8 - 8, through: 0, by: -8) {
        key.write(UInt8(truncatingIfNeeded: (word ^ flip) >> UInt64(shift)))
      }
    }
    key.write((order.tieDirection == .ascending ? id : ~id).byteSwapped)
    insertKey()
  }

  /// Keeps the key if it is one of the first.
  private mutating func insertKey() {
    if let start { guard unsafe key.buffer.compare(to: start) > 0 else { return } }
    if unsafe keys.insert(key.buffer) { updateBoundWord() }
  }

  private func sortsAfterBound(_ record: borrowing RecordView) throws(RecordError) -> Bool {
    guard let boundWord, let leading,
      case .present(let bytes) = unsafe try record.content(at: order.columns[0].position),
      bytes.count == leading.width, let base = bytes.baseAddress
    else { return false }
    let word = unsafe leading.word(base)
    return (order.columns[0].direction == .ascending ? word : ~word & leading.mask) > boundWord
  }

  private mutating func updateBoundWord() {
    guard let leading, let bound = keys.bound else { return }
    let tag: UInt8 = order.columns[0].direction == .ascending ? 1 : ~1
    // A key whose first column is null has no word to compare.
    boundWord =
      bound[0] == tag
      ? bound[1...leading.width].reduce(0) { $0 << 8 | UInt64($1) } : nil
  }

  /// Returns the IDs in sort order.
  consuming func sortedIDs() -> [UInt64] {
    let flip: UInt64 = order.tieDirection == .ascending ? 0 : .max
    return keys.sortedIDs().map { $0 ^ flip }
  }
}
