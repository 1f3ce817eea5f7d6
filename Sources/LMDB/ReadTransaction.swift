/// A snapshot of the last commit, for as long as the value lives.
///
/// Dropping the value ends the transaction. It may move between threads.
@safe
public struct ReadTransaction: Transaction, ~Copyable {
  /// The C handle of the transaction.
  @unsafe public let raw: OpaquePointer
  /// The environment that the transaction reads.
  public let environment: Environment
  private var isEnded = false

  init(raw: OpaquePointer, environment: Environment) {
    unsafe self.raw = unsafe raw
    self.environment = environment
  }

  /// Ends the transaction and keeps the databases that it opened.
  ///
  /// The corresponding C function is `mdb_txn_commit`.
  package consuming func keepDatabases() throws(LMDBError) {
    isEnded = true
    defer { environment.gate.leave() }
    unsafe try transactionCommit(raw)
  }

  deinit {
    guard !isEnded else { return }
    // Reset before the slot can be handed to another thread.
    unsafe transactionReset(raw)
    if unsafe !environment.gate.leaveReader(raw) { unsafe transactionAbort(raw) }
  }
}

// An LMDB read transaction is bound to no thread under `MDB_NOTLS`, and a noncopyable value is used
// by one thread at a time.
extension ReadTransaction: @unchecked Sendable {}
