/// A transaction that somebody else keeps open, for reading.
///
/// Unsafe to use after that transaction ended.
@unsafe
package struct TransactionReference: Transaction {
  package let raw: OpaquePointer
  package let environment: Environment

  /// Refers to `transaction`, which must outlive the reference.
  package init(_ transaction: borrowing some Transaction & ~Copyable) {
    unsafe raw = unsafe transaction.raw
    unsafe environment = transaction.environment
  }
}
