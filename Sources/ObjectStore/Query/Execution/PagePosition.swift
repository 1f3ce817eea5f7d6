/// A place in the order of a query, between two objects.
struct PagePosition: Sendable, Hashable {
  /// The key of the object before the place in each order: whole, and as if it ascended.
  var keys: [[UInt8]]
  /// The id of that object.
  var id: UInt64

  /// The sort key of that object.
  func sortKey(_ order: SortOrder) -> [UInt8] {
    var key: [UInt8] = []
    for (column, bytes) in zip(order.columns, keys) {
      key += column.direction == .ascending ? bytes : bytes.map { ~$0 }
    }
    let tie = order.tieDirection == .ascending ? id : ~id
    unsafe withUnsafeBytes(of: tie.bigEndian) { unsafe key.append(contentsOf: $0) }
    return key
  }
}
