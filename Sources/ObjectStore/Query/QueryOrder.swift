/// One sort key of a query.
enum QueryOrder<Root: Model>: Sendable {
  case column(ColumnOrder)
  /// Sorts by a value of the decoded object; the closure returns less than 0 when its first
  /// argument comes first in ascending order.
  case computed(SortDirection, @Sendable (Root, Root) -> Int)

  var direction: SortDirection {
    switch self {
    case .column(let order): order.direction
    case .computed(let direction, _): direction
    }
  }
}

/// A sort key that is a stored field.
struct ColumnOrder: Sendable, Hashable {
  var position: Int
  var form: KeyEncoding.Form
  var width: Int?
  var direction: SortDirection

  /// Appends bytes whose order is that of the records in this sort key.
  func append(
    _ record: borrowing RecordView,
    to key: inout ByteWriter
  ) throws(RecordError) {
    let start = key.count
    switch unsafe try record.content(at: position) {
    case .missing, .null: key.write(0 as UInt8)
    case .present(let bytes):
      guard width == nil || bytes.count == width else {
        throw RecordError(.truncated, field: record.name(at: position))
      }
      unsafe KeyEncoding.append(bytes, form, maximumContentSize: .max, to: &key)
    }
    if direction == .descending { key.invert(from: start) }
  }
}

/// The order of a query that sorts by stored fields only.
struct SortOrder: Sendable, Hashable {
  var columns: [ColumnOrder]
  /// The direction of the object IDs, which break ties.
  var tieDirection: SortDirection

  /// The insertion order of objects.
  static let stored = SortOrder(columns: [], tieDirection: .ascending)

  var isStored: Bool { columns.isEmpty && tieDirection == .ascending }

  /// Replaces `key` with bytes whose order is that of the objects.
  ///
  /// The key holds each field's untruncated index key, with all bits inverted for a descending
  /// field, and then the object's ID.
  func write(
    _ record: borrowing RecordView,
    _ id: UInt64,
    to key: inout ByteWriter
  ) throws(RecordError) {
    key.removeAll()
    for column in columns { try column.append(record, to: &key) }
    key.write((tieDirection == .ascending ? id : ~id).byteSwapped)
  }
}

extension Query {
  /// The order by stored fields, or `nil` when a sort key is computed.
  var sortOrder: SortOrder? {
    var columns: [ColumnOrder] = []
    for order in orders {
      guard case .column(let column) = order else { return nil }
      columns.append(column)
    }
    return SortOrder(columns: columns, tieDirection: orders.last?.direction ?? .ascending)
  }

  /// Returns bytes that sort as the objects do in this query; they are unique per object.
  ///
  /// Computed sort keys are ignored. The record must have the parts that contain the sort fields.
  func sortKey(of record: borrowing RecordView, id: UInt64) throws(RecordError) -> [UInt8] {
    var key = ByteWriter()
    try (sortOrder ?? .stored).write(record, id, to: &key)
    return key.bytes
  }
}

extension ByteWriter {
  fileprivate mutating func invert(from start: Int) {
    for index in start..<count {
      let byte = unsafe base.load(fromByteOffset: index, as: UInt8.self)
      unsafe base.storeBytes(of: ~byte, toByteOffset: index, as: UInt8.self)
    }
  }
}

/// Sorts matches into the order of a query, keeping all of them or the first `limit`.
struct Sorter: ~Copyable {
  private let order: SortOrder
  /// The maximum number of matches to keep.
  private let limit: Int
  /// Matches whose sort key is not greater than this are ignored.
  private let start: [UInt8]?
  /// The sort keys; once `limit` are kept, a max-heap.
  private var keys: [[UInt8]] = []
  private var key = ByteWriter()
  /// The number form of the most significant sort column, when that column is a number.
  private let leading: NumberForm?
  /// The word of that column in the greatest key kept, once `limit` are kept.
  ///
  /// Inverted for a descending column. Most later records are rejected by this comparison alone,
  /// without building their sort key.
  private var greatestWord: UInt64?

  init(_ order: SortOrder, limit: Int, after start: [UInt8]?) {
    self.order = order
    self.limit = limit
    self.start = start
    leading = order.columns.first.flatMap { NumberForm($0) }
  }

  mutating func add(_ record: borrowing RecordView, _ id: UInt64) throws(RecordError) {
    guard limit > 0, !(try sortsAfterGreatest(record)) else { return }
    try order.write(record, id, to: &key)
    if let start { guard unsafe key.buffer.compare(to: start) > 0 else { return } }
    if keys.count < limit {
      keys.append(key.bytes)
      if keys.count == limit, limit < .max {
        heapify()
        updateGreatestWord()
      }
      return
    }
    guard unsafe key.buffer.compare(to: keys[0]) < 0 else { return }
    keys[0] = key.bytes
    siftDown(0, keys.count)
    updateGreatestWord()
  }

  private func sortsAfterGreatest(_ record: borrowing RecordView) throws(RecordError) -> Bool {
    guard let greatestWord, let leading,
      case .present(let bytes) = unsafe try record.content(at: order.columns[0].position),
      bytes.count == leading.width, let base = bytes.baseAddress
    else { return false }
    let word = unsafe leading.word(base)
    return (order.columns[0].direction == .ascending ? word : ~word & leading.mask) > greatestWord
  }

  private mutating func updateGreatestWord() {
    guard let leading, let greatest = keys.first else { return }
    let tag: UInt8 = order.columns[0].direction == .ascending ? 1 : ~1
    // A key whose first column is null has no word to compare.
    greatestWord =
      greatest[0] == tag
      ? greatest[1...leading.width].reduce(0) { $0 << 8 | UInt64($1) } : nil
  }

  /// Returns the IDs in sort order.
  consuming func sortedIDs() -> [UInt64] {
    keys.sort { $0.precedes($1) }
    let flip: UInt64 = order.tieDirection == .ascending ? 0 : .max
    return keys.map { key in
      key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) } ^ flip
    }
  }

  private mutating func heapify() {
    for index in stride(from: keys.count / 2 - 1, through: 0, by: -1) {
      siftDown(index, keys.count)
    }
  }

  private mutating func siftDown(_ start: Int, _ count: Int) {
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
