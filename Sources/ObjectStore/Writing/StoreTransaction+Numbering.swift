internal import LMDB

extension StoreTransaction {
  /// A primary key for an object that is to be added: a number that no object of the model has, and
  /// that is never given again.
  ///
  /// ```swift
  /// try store.write { tx in
  ///   try tx.insert(Note(id: tx.nextKey(for: Note.self), text: "…"))
  /// }
  /// ```
  ///
  /// Numbers count up from 1, in the order of the writes of all processes, and with gaps: one that is
  /// given and not used is gone once the write commits. Keys that were chosen by hand are passed over.
  ///
  /// - Throws: ``StoreError`` with `full` when the key's type has no number left; `damaged`,
  ///   `unknownModel`.
  /// - Complexity: O(log n) in the objects of the model, for each key that is passed over as well.
  public mutating func nextKey<M: Model>(for model: M.Type) throws -> M.PrimaryKey
  where M.PrimaryKey: FixedWidthInteger {
    let writer = try writer(for: M.self)
    while true {
      let number = try writer.nextNumber(in: transaction)
      guard let key = M.PrimaryKey(exactly: number) else {
        throw StoreError(
          .full,
          "the primary keys of \(M.schema.name) are used up: \(M.PrimaryKey.self) ends at \(M.PrimaryKey.max)"
        )
      }
      try writer.didGive(number, in: &transaction)
      var isTaken = false
      unsafe try key.withStoredBytes { isTaken = unsafe try find(writer, $0) != nil }
      if !isTaken { return key }
    }
  }
}

extension ModelWriter {
  /// The number after the last one that was given.
  ///
  /// The first one is more than there ever were objects, so that a model whose keys were counted
  /// otherwise before is not searched from its beginning.
  fileprivate func nextNumber(in transaction: borrowing WriteTransaction) throws -> UInt64 {
    let last: UInt64? = try metadata.integer(MetadataKey.counter(tables.name), in: transaction)
    guard let last else { return try work.value.ids.next(in: transaction) }
    guard last < .max else {
      throw StoreError(.damaged, "\(tables.name) has counted its keys to the end")
    }
    return last + 1
  }

  fileprivate func didGive(_ number: UInt64, in transaction: inout WriteTransaction) throws {
    try metadata.set(number, for: MetadataKey.counter(tables.name), in: &transaction)
  }
}
