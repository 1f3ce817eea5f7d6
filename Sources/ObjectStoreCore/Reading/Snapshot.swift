internal import LMDB
internal import SystemInterface

/// A consistent view of the store at one commit, valid inside the closure of a read.
///
/// ```swift
/// func pinnedCount(_ tx: inout Snapshot) throws -> Int {
///   try tx.count(Note.where { $0.isPinned == true })
/// }
/// let (count, commit) = try store.read { tx in (try pinnedCount(&tx), tx.commitNumber) }
/// ```
public struct Snapshot: ObjectReader, ~Copyable, Sendable {
  private let transaction: ReadTransaction
  private let schema: StoreSchema

  init(transaction: consuming ReadTransaction, schema: StoreSchema) {
    self.transaction = transaction
    self.schema = schema
  }

  /// The module's internal handle of the transaction.
  public var source: ReaderSource {
    ReaderSource(transaction, schema)
  }

  /// The number of the commit; see ``Store/commitNumber()``.
  public var commitNumber: UInt64 { transaction.id }
}

/// A consistent view of the store at one commit that can be kept across calls and `await`.
///
/// ```swift
/// let snapshot = try store.snapshot()
/// defer { snapshot.close() }
/// let count = try snapshot.read { tx in try tx.count(Note.all) }
/// ```
///
/// Release it or call ``close()`` soon: while it is open, pages that later commits free cannot be
/// reused, so the file grows with every write. Any thread may read from it; concurrent reads of one
/// snapshot run one at a time.
public final class FrozenSnapshot: Sendable {
  /// The number of the commit; see ``Store/commitNumber()``.
  public let commitNumber: UInt64
  // LMDB lets any thread use a read transaction (MDB_NOTLS), but only one at a time; hence the
  // lock.
  private let snapshot: Mutex<Snapshot?>

  init(_ snapshot: consuming Snapshot) {
    commitNumber = snapshot.commitNumber
    self.snapshot = Mutex(consume snapshot)
  }

  /// Calls `body` with the snapshot and returns its result.
  ///
  /// - Precondition: The snapshot is not being read by the same thread: a nested `read` traps.
  /// - Throws: ``StoreError`` with `closed`, or the error of `body`.
  public func read<Result>(_ body: (inout Snapshot) throws -> Result) throws -> Result {
    // `withLock` can return only a value of a disconnected region, which `Result` need not be.
    var result: Result?
    try snapshot.withLock { snapshot in
      result = try translating("reading a snapshot") { try snapshot?.lend(to: body) }
    }
    guard let result else { throw StoreError(.closed, "the snapshot was closed") }
    return result
  }

  /// Ends the read transaction; later reads throw ``StoreError`` with `closed`.
  ///
  /// Waits for a read in progress.
  public func close() {
    snapshot.withLock { $0 = nil }
  }
}

extension Snapshot {
  fileprivate mutating func lend<Result>(
    to body: (inout Snapshot) throws -> Result
  ) throws -> Result {
    try body(&self)
  }
}

extension Store {
  /// Returns a view of the store at the last commit that can be kept across calls.
  ///
  /// Costs as much as starting a read transaction, and occupies a reader slot until it is closed.
  ///
  /// - Throws: ``StoreError`` with `other` when no reader slot is free.
  public func snapshot() throws -> FrozenSnapshot {
    try translating("reading \(path)") { FrozenSnapshot(try beginSnapshot()) }
  }
}
