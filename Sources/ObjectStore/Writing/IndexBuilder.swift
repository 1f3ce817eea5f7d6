internal import LMDB

/// Fills an index that is new from the records that are there.
struct IndexBuilder {
  let tables: ModelTables
  let index: ModelTables.Index

  /// - Throws: ``StoreError`` with `duplicateKey` when the index is unique and two objects have the
  ///   same values; `damaged`.
  func run(in transaction: inout WriteTransaction) throws {
    let reader = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: tables
    )
    var keys: [[UInt8]] = []
    var list = KeyList()
    unsafe try reader.forEachRecord { id, record in
      list.removeAll()
      do throws(RecordError) {
        try list.append(record, id, in: index)
      } catch {
        throw StoreError(error, model: tables.name, objectID: id)
      }
      for number in 0..<list.count { keys.append(unsafe Array(list[number])) }
      return true
    }
    // In the order of keys, so that pages fill up one after another.
    keys.sort { $0.lexicographicallyPrecedes($1) }
    let uniqueness = UniqueIndex(tables: tables, index: index)
    for key in keys {
      try unsafe key.withUnsafeBytes { key in
        if index.description.isUnique { unsafe try uniqueness.check(key, in: transaction) }
        unsafe try transaction.put(
          UnsafeRawBufferPointer(start: nil, count: 0),
          for: key,
          in: index.database
        )
      }
    }
  }
}
