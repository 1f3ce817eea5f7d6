/// One order of a query.
enum QueryOrder<Root: Model>: Sendable {
  case column(ColumnOrder)
  /// By a value of the whole object: less than 0 when the first object comes first, ascending.
  case computed(SortDirection, @Sendable (Root, Root) -> Int)

  var direction: SortDirection {
    switch self {
    case .column(let order): order.direction
    case .computed(let direction, _): direction
    }
  }
}

/// An order by a stored field.
struct ColumnOrder: Sendable, Hashable {
  var position: Int
  var form: KeyEncoding.Form
  var width: Int?
  var direction: SortDirection

  /// Appends the bytes that sort as the field of the record does in this order.
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
      unsafe KeyEncoding.append(bytes, form, longestContent: .max, to: &key)
    }
    if direction == .descending { key.invert(from: start) }
  }
}

/// The orders of a query that are by stored fields alone.
struct SortOrder: Sendable, Hashable {
  var columns: [ColumnOrder]
  /// Of the ids, which decide where all else is the same.
  var tieDirection: SortDirection

  /// The order in which objects were first stored.
  static let stored = SortOrder(columns: [], tieDirection: .ascending)

  var isStored: Bool { columns.isEmpty && tieDirection == .ascending }

  /// Writes the bytes of which the order is that of the objects: each field's key whole, all bits
  /// turned where it descends, then the object's id.
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
  /// `nil` when an order is by a value that is computed.
  var sortOrder: SortOrder? {
    var columns: [ColumnOrder] = []
    for order in orders {
      guard case .column(let column) = order else { return nil }
      columns.append(column)
    }
    return SortOrder(columns: columns, tieDirection: orders.last?.direction ?? .ascending)
  }

  /// Bytes of which the order is that of the query; no two objects have the same.
  ///
  /// Orders by computed values do not count. The record must have the parts with the fields that
  /// the query is ordered by.
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
