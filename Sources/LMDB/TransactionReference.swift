/// An unowned reference to an open transaction, for reading.
///
/// Unsafe to use after that transaction ends.
@unsafe
package struct TransactionReference: Transaction {
  package let raw: OpaquePointer
  // The transaction retains the environment. Retaining it again for each record read would cost
  // more than the read itself.
  private unowned(unsafe) let owner: Environment

  /// The environment that the transaction reads.
  package var environment: Environment { unsafe owner }

  /// Creates a reference to `transaction`, which must outlive it.
  package init(_ transaction: borrowing some Transaction & ~Copyable) {
    unsafe raw = unsafe transaction.raw
    unsafe owner = transaction.environment
  }
}
