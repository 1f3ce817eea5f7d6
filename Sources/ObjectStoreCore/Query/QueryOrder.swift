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
  /// Inverts all bits of the bytes from an offset on, so that they sort in reverse.
  mutating func invert(from start: Int) {
    for index in start..<count {
      let byte = unsafe base.load(fromByteOffset: index, as: UInt8.self)
      unsafe base.storeBytes(of: ~byte, toByteOffset: index, as: UInt8.self)
    }
  }
}
