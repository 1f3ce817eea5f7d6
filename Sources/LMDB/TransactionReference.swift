/// An unowned reference to an open transaction, for reading.
///
/// Unsafe to use after that transaction ends.
@unsafe
package struct TransactionReference: Transaction {
  package let raw: OpaquePointer
  // The transaction retains the environment. Retaining it again for each record read would cost
  // more than the read itself.
  private unowned(unsafe) let owner: Environment
  /// Whether the map has all that the transaction reads: not in a write transaction, whose changed
  /// pages are elsewhere.
  let isSnapshot: Bool

  /// The environment that the transaction reads.
  package var environment: Environment { unsafe owner }

  /// Creates a reference to `transaction`, which must outlive it.
  package init(_ transaction: borrowing some Transaction & ~Copyable) {
    unsafe raw = unsafe transaction.raw
    unsafe owner = transaction.environment
    unsafe isSnapshot = false
  }

  /// Creates a reference to a read transaction, which must outlive it.
  package init(_ transaction: borrowing ReadTransaction) {
    unsafe raw = unsafe transaction.raw
    unsafe owner = transaction.environment
    unsafe isSnapshot = true
  }

  /// Returns the value of a key of a database with integer keys, in the map: valid until the
  /// transaction ends or writes.
  @inline(__always)
  package func value(
    of key: UInt64,
    in database: Database
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try unsafe withUnsafeBytes(of: key) { key throws(LMDBError) in
      unsafe try value(for: key, in: database)
    }
  }
}
