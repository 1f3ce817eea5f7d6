internal import LMDB

extension StoreTransaction {
  /// Returns a new integer primary key (autoincrement).
  ///
  /// No object has this key, and it is never returned again.
  ///
  /// ```swift
  /// try store.write { tx in
  ///   try tx.insert(Note(id: tx.nextKey(for: Note.self), text: "…"))
  /// }
  /// ```
  ///
  /// Numbers increase from 1 across the writes of all processes. There may be gaps: a number that
  /// is not used is lost when the write commits. Numbers that are already used as keys are skipped.
  ///
  /// - Throws: ``StoreError`` with `keysExhausted` if the key's type has no number left; `damaged`;
  ///   `unknownModel`.
  /// - Complexity: O(log n) in the objects of the model, for the returned key and each skipped one.
  public mutating func nextKey<M: Model>(for model: M.Type) throws -> M.PrimaryKey
  where M.PrimaryKey: FixedWidthInteger {
    let writer = try writer(for: M.self)
    while true {
      let number = try writer.nextNumber(in: transaction)
      guard let key = M.PrimaryKey(exactly: number) else {
        throw StoreError(
          .keysExhausted,
          """
          the primary keys of \(M.schema.name) are exhausted: the greatest \(M.PrimaryKey.self) is \
          \(M.PrimaryKey.max)
          """
        )
      }
      try writer.setLastNumber(number, in: &transaction)
      if try !hasObject(writer, key: key) { return key }
    }
  }
}

extension ModelWriter {
  /// Returns the number after the last one that was assigned.
  ///
  /// The first number is the next object id, and therefore greater than the number of objects that
  /// ever existed. A model whose keys were previously numbered in another way is thus not searched
  /// from 1. In a model that is stored by key, it is one more than the number of objects.
  fileprivate func nextNumber(in transaction: borrowing WriteTransaction) throws -> UInt64 {
    let last: UInt64? = try metadata.integer(MetadataKey.counter(tables.name), in: transaction)
    guard let last else {
      guard tables.storage == .sequential else {
        return UInt64(try transaction.count(of: tables.records)) + 1
      }
      return try work.value.ids.next(in: transaction)
    }
    guard last < .max else {
      throw StoreError(.damaged, "the key counter of \(tables.name) cannot be increased further")
    }
    return last + 1
  }

  fileprivate func setLastNumber(_ number: UInt64, in transaction: inout WriteTransaction) throws {
    try metadata.set(number, for: MetadataKey.counter(tables.name), in: &transaction)
  }
}

/// Assigns object ids in a model.
///
/// Each id is greater than every id that was ever assigned, so ids are never reused.
struct IDSequence {
  let tables: ModelTables
  let metadata: Metadata
  /// The greatest id assigned so far, once it has been read.
  private var greatest: UInt64?

  init(tables: ModelTables, metadata: Metadata) {
    self.tables = tables
    self.metadata = metadata
  }

  /// Returns the next id.
  ///
  /// It is assigned by ``didUse(_:)``.
  mutating func next(in transaction: borrowing WriteTransaction) throws -> UInt64 {
    let greatest = try known(in: transaction)
    guard greatest < .max else {
      throw StoreError(.damaged, "\(tables.name) has an object with the greatest possible id")
    }
    return greatest + 1
  }

  /// Makes the next id `id`, unless an id that is not less was already assigned.
  ///
  /// An id above 2^62 is ignored: half of the ids remain for other objects, whatever a file says.
  mutating func skip(to id: UInt64, in transaction: borrowing WriteTransaction) throws {
    guard id > 0, id <= 1 << 62 else { return }
    greatest = max(try known(in: transaction), id - 1)
  }

  mutating func didUse(_ id: UInt64) {
    greatest = id
  }

  /// Persists the id floor before the object with the greatest id is removed, so that its id is not
  /// assigned again.
  mutating func willRemove(_ id: UInt64, in transaction: inout WriteTransaction) throws {
    guard try known(in: transaction) == id else { return }
    try metadata.set(id, for: MetadataKey.floor(tables.name), in: &transaction)
  }

  private mutating func known(in transaction: borrowing WriteTransaction) throws -> UInt64 {
    if let greatest { return greatest }
    let last = try transaction.lastKey(in: tables.records) ?? 0
    let floor: UInt64 =
      try metadata.integer(MetadataKey.floor(tables.name), in: transaction) ?? 0
    greatest = max(last, floor)
    return max(last, floor)
  }
}
