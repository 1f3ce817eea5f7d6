internal import CLMDB

/// A read transaction: a snapshot of the last commit.
///
/// Dropping the value ends the transaction. It may move between threads.
///
/// ```swift
/// let snapshot: ReadTransaction = try environment.beginRead()
/// if let notes = try snapshot.openDatabase("notes") {
///   let isPresent = try snapshot.withValue(for: key.span, in: notes) { value in value != nil }
///   print("commit \(snapshot.id): \(isPresent)")
/// }
/// ```
@safe
public struct ReadTransaction: Transaction, ~Copyable {
  /// The C handle of the transaction.
  @unsafe public let raw: OpaquePointer
  /// The environment that the transaction reads.
  public let environment: Environment
  private var isEnded = false

  init(_ reader: PooledReader, environment: Environment) {
    unsafe raw = unsafe reader.raw
    self.environment = environment
  }

  /// Ends the transaction and keeps the database handles that it opened.
  ///
  /// The corresponding C function is `mdb_txn_commit`.
  package consuming func keepDatabases() throws(LMDBError) {
    isEnded = true
    defer { environment.gate.leave() }
    unsafe try transactionCommit(raw)
  }

  deinit {
    guard !isEnded else { return }
    let reader = unsafe PooledReader(raw: raw)
    // Reset the transaction before the gate hands its slot to another thread.
    unsafe transactionReset(raw)
    if !environment.gate.leaveReader(reader) { reader.abort() }
  }
}

// With `MDB_NOTLS`, a read transaction is not bound to a thread, and a noncopyable value is used by
// one thread at a time.
extension ReadTransaction: @unchecked Sendable {}

/// A read transaction in the pool, or about to get there.
@safe
struct PooledReader {
  @unsafe let raw: OpaquePointer

  /// Begins a transaction.
  init(_ environment: EnvironmentHandle) throws(LMDBError) {
    unsafe raw = unsafe try transactionBegin(environment, flags: MDB_RDONLY)
  }

  fileprivate init(raw: OpaquePointer) { unsafe self.raw = unsafe raw }

  /// Begins it again, after ``ReadTransaction`` has reset it.
  func renew() throws(LMDBError) { unsafe try transactionRenew(raw) }

  func abort() {
    unsafe transactionAbort(raw)
  }
}

// A thread uses a pooled transaction only after removing it from the pool under the gate's lock.
extension PooledReader: @unchecked Sendable {}
