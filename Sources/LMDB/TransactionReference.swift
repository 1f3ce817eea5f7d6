/// An unowned reference to an open transaction, for reading.
///
/// Unsafe to use after that transaction ends.
@unsafe
package struct TransactionReference: Transaction {
  package let raw: OpaquePointer
  // The transaction retains the environment. Retaining it again for each record read would cost
  // more than the read itself.
  private unowned(unsafe) let owner: Environment
  /// The trees of a read transaction; `nil` in a write transaction, whose changed pages are not in
  /// the map.
  private let trees: SnapshotTrees?

  /// The environment that the transaction reads.
  package var environment: Environment { unsafe owner }

  /// Creates a reference to `transaction`, which must outlive it.
  package init(_ transaction: borrowing some Transaction & ~Copyable) {
    unsafe raw = unsafe transaction.raw
    unsafe owner = transaction.environment
    unsafe trees = nil
  }

  /// Creates a reference to a read transaction, which must outlive it.
  package init(_ transaction: borrowing ReadTransaction) {
    unsafe raw = unsafe transaction.raw
    unsafe owner = transaction.environment
    unsafe trees = unsafe transaction.trees
  }

  /// Returns the value of a key of a database with integer keys, in the map: valid until the
  /// transaction ends or writes.
  ///
  /// In a read transaction this takes less time than `mdb_get`, which it calls in a write transaction.
  package func value(
    of key: UInt64,
    in database: Database
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    if let tree = unsafe try tree(of: database), let value = unsafe tree.value(of: key) {
      return unsafe value.baseAddress == nil ? nil : value
    }
    return try unsafe withUnsafeBytes(of: key) { key throws(LMDBError) in
      unsafe try value(for: key, in: database)
    }
  }

  /// Returns the tree of a database with integer keys; `nil` if LMDB must be asked.
  @inline(__always)
  func tree(of database: Database) throws(LMDBError) -> IntegerTree? {
    unsafe assert(database.environment == environment.identity)
    return unsafe try trees?.tree(of: database, in: self)
  }
}
