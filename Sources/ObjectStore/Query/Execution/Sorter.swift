/// Puts matches into the order of a query: keeps all of them, or the first few.
struct Sorter: ~Copyable {
  private let order: SortOrder
  /// So many are kept.
  private let limit: Int
  /// Only keys greater than this count.
  private let start: [UInt8]?
  /// When full, a heap with the greatest key in front.
  private var keys: [[UInt8]] = []
  private var key = ByteWriter()
  /// The form of the field that decides first, when it is a number.
  private let leading: NumberForm?
  /// When full, the word of that number in the greatest key, turned where the order descends: most
  /// records are told by it to come later, without a key of theirs.
  private var greatestWord: UInt64?

  init(_ order: SortOrder, limit: Int, after start: [UInt8]?) {
    self.order = order
    self.limit = limit
    self.start = start
    leading = order.columns.first.flatMap { NumberForm($0) }
  }

  mutating func add(_ record: borrowing RecordView, _ id: UInt64) throws(RecordError) {
    guard limit > 0, !(try comesLater(record)) else { return }
    try order.write(record, id, to: &key)
    if let start { guard unsafe key.buffer.compare(to: start) > 0 else { return } }
    if keys.count < limit {
      keys.append(key.bytes)
      if keys.count == limit, limit < .max {
        heapify()
        noteGreatest()
      }
      return
    }
    guard unsafe key.buffer.compare(to: keys[0]) < 0 else { return }
    keys[0] = key.bytes
    sink(0, keys.count)
    noteGreatest()
  }

  private func comesLater(_ record: borrowing RecordView) throws(RecordError) -> Bool {
    guard let greatestWord, let leading,
      case .present(let bytes) = unsafe try record.content(at: order.columns[0].position),
      bytes.count == leading.width, let base = bytes.baseAddress
    else { return false }
    let word = unsafe leading.word(base)
    return (order.columns[0].direction == .ascending ? word : ~word & leading.mask) > greatestWord
  }

  private mutating func noteGreatest() {
    guard let leading, let greatest = keys.first else { return }
    let tag: UInt8 = order.columns[0].direction == .ascending ? 1 : ~1
    // A key without a value says nothing of words.
    greatestWord =
      greatest[0] == tag
      ? greatest[1...leading.width].reduce(0) { $0 << 8 | UInt64($1) } : nil
  }

  /// The ids in order.
  consuming func sortedIDs() -> [UInt64] {
    keys.sort { $0.precedes($1) }
    let flip: UInt64 = order.tieDirection == .ascending ? 0 : .max
    return keys.map { key in
      key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) } ^ flip
    }
  }

  private mutating func heapify() {
    for index in stride(from: keys.count / 2 - 1, through: 0, by: -1) { sink(index, keys.count) }
  }

  private mutating func sink(_ start: Int, _ count: Int) {
    var parent = start
    while true {
      var greatest = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < count && keys[greatest].precedes(keys[child]) {
        greatest = child
      }
      guard greatest != parent else { return }
      keys.swapAt(parent, greatest)
      parent = greatest
    }
  }
}
