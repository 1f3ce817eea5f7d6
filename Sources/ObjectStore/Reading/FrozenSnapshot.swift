internal import LMDB
internal import Synchronization

/// A store as of one commit, for as long as the value is held: over many calls and across awaits.
///
/// Drop it or ``close()`` it soon: while it is open, no room freed by later writes is used again, and
/// the file grows with every write. Any thread may read from it, one at a time; others wait.
public final class FrozenSnapshot: Sendable {
  /// The number of the commit; see ``ObjectStore/changeCount()``.
  public let changeCount: UInt64
  // LMDB lets a read transaction be used by any thread, but by one at a time: the lock sees to it.
  private let snapshot: Guarded<Snapshot?>

  init(_ snapshot: consuming Snapshot) {
    changeCount = snapshot.changeCount
    self.snapshot = Guarded(consume snapshot)
  }

  /// Lends the snapshot to `body`.
  ///
  /// A read inside a read of one frozen snapshot traps; what `body` is lent reads everything.
  ///
  /// - Throws: ``StoreError`` with `closed`, or what `body` throws.
  public func read<Result>(_ body: (inout Snapshot) throws -> Result) throws -> Result {
    // What is found is of the caller's region, and a lock gives back only what is of none.
    var result: Result?
    try snapshot.withLock { snapshot in
      result = try translating("reading a snapshot") { try snapshot?.lend(to: body) }
    }
    guard let result else { throw StoreError(.closed, "the snapshot was closed") }
    return result
  }

  /// Lets go of the commit; reads after it throw.
  ///
  /// Waits for a read that is under way.
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

extension ObjectStore {
  /// The store as of the last commit, to be read over many calls.
  ///
  /// Costs as much as beginning a read.
  ///
  /// - Throws: ``StoreError`` with `other` when there are too many readers.
  public func snapshot() throws -> FrozenSnapshot {
    try translating("reading \(path)") { FrozenSnapshot(try beginSnapshot()) }
  }
}
