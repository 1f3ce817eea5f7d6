/// A transaction that somebody else keeps open, for reading.
///
/// Unsafe to use after that transaction ended.
@unsafe
package struct TransactionReference: Transaction {
  package let raw: OpaquePointer
  // Whoever keeps the transaction open keeps the environment: retaining it for every read of a
  // record would cost more than the read's own work.
  private unowned(unsafe) let owner: Environment

  /// The environment that the transaction reads.
  package var environment: Environment { unsafe owner }

  /// Refers to `transaction`, which must outlive the reference.
  package init(_ transaction: borrowing some Transaction & ~Copyable) {
    unsafe raw = unsafe transaction.raw
    unsafe owner = transaction.environment
  }
}
