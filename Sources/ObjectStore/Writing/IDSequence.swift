internal import LMDB

/// Gives ids to the objects of a model: each one more than every id that an object has, or ever
/// had, so that ids tell objects apart for ever.
struct IDSequence {
  let tables: ModelTables
  let metadata: Metadata
  /// The greatest id given so far, once it is known.
  private var greatest: UInt64?

  init(tables: ModelTables, metadata: Metadata) {
    self.tables = tables
    self.metadata = metadata
  }

  /// The id of the next object; it counts as given after ``didUse(_:)``.
  mutating func next(in transaction: borrowing WriteTransaction) throws -> UInt64 {
    let greatest = try known(in: transaction)
    guard greatest < .max else {
      throw StoreError(.damaged, "\(tables.name) has an object of the greatest possible id")
    }
    return greatest + 1
  }

  mutating func didUse(_ id: UInt64) {
    greatest = id
  }

  /// Keeps the id of the newest object from being given again.
  mutating func willRemove(_ id: UInt64, in transaction: inout WriteTransaction) throws {
    guard try known(in: transaction) == id else { return }
    try metadata.set(id, for: MetadataKey.floor(tables.name), in: &transaction)
  }

  private mutating func known(in transaction: borrowing WriteTransaction) throws -> UInt64 {
    if let greatest { return greatest }
    let cursor = unsafe try transaction.cursor(on: tables.records)
    var last: UInt64 = 0
    if let entry = unsafe try cursor.last(), unsafe entry.key.count == 8 {
      last = unsafe entry.key.loadUnaligned(as: UInt64.self)
    }
    let floor: UInt64 =
      try metadata.integer(MetadataKey.floor(tables.name), in: transaction) ?? 0
    greatest = max(last, floor)
    return max(last, floor)
  }
}
