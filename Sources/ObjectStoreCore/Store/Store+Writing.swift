internal import Dispatch
internal import LMDB

// The overloads share a name by design; `await` selects the asynchronous one.
// swift-format-ignore: AmbiguousTrailingClosureOverload
extension Store {
  /// Runs `body` in a write transaction, and commits when it returns.
  ///
  /// Blocks the thread until writes of other threads and processes have ended. If `body` throws,
  /// the transaction is rolled back.
  ///
  /// - Parameters:
  ///   - durability: The durability of the commit. The default survives a power failure and costs
  ///     two disk syncs.
  ///   - observers: Observation sequences, by their ``ResultChanges/observer``, that do not report
  ///     this commit. Use it if their consumer already knows the changes.
  ///   - body: The write. It must not wait for another write to the same store.
  /// - Returns: The result of `body`.
  /// - Throws: ``StoreError`` with `permissionDenied` (the store is open read-only), `mapFull`,
  ///   `diskFull`, `inputOutput`, `damaged`, `danglingReference` (a written object refers to a
  ///   missing one), `tooNew` (a newer program has migrated the store) or `wouldDeadlock` (called
  ///   from inside a write); any error that `body` throws.
  @discardableResult
  public func write<R>(
    durability: Durability = .full,
    withoutNotifying observers: Set<ObserverID> = [],
    _ body: (inout StoreTransaction) throws -> R
  ) throws -> R {
    try translating("writing \(path)") {
      var transaction = try beginWrite()
      let result = try run(body, in: &transaction)
      try commit(transaction, durability, withoutNotifying: observers)
      return result
    }
  }

  /// Runs `body` in a write transaction on the store's own queue, and commits when it returns.
  ///
  /// No thread of the caller's executor blocks.
  ///
  /// Writes that are queued at the same time share one commit and its disk syncs (group commit), so
  /// concurrent tasks write much faster than a single one. The commit has the greatest durability
  /// that any of the writes asks for. Each write is still atomic, and writes run in the order of
  /// the calls. If a write throws, only this write is rolled back. If the commit fails, all of its
  /// writes fail with that error. If the map is full, the write that finds it full fails with
  /// `mapFull`, and the writes after it run in the next transaction with a larger map.
  ///
  /// If the task is cancelled before its write has started, the write is removed from the queue.
  ///
  /// - Parameters:
  ///   - durability: The least durability of the commit. The default survives a power failure.
  ///   - observers: As for the synchronous overload. Only writes with the same set of observers
  ///     share a commit.
  ///   - body: The write. It must not wait for another write to the same store.
  /// - Returns: The result of `body`.
  /// - Throws: ``StoreError`` as the synchronous overload; `CancellationError`; any error that
  ///   `body` throws.
  @discardableResult
  public func write<R: Sendable>(
    durability: Durability = .full,
    withoutNotifying observers: Set<ObserverID> = [],
    _ body: @escaping @Sendable (inout StoreTransaction) throws -> R
  ) async throws -> R {
    let token = WriteQueue.CancellationToken()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let write = WriteQueue.Write(
          durability: durability,
          suppressedFor: observers,
          run: { transaction in
            let result = try body(&transaction)
            return { continuation.resume(returning: result) }
          },
          fail: { continuation.resume(throwing: $0) }
        )
        do {
          if try writes.add(write, token) { writeQueue.async { self.drainWrites() } }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    } onCancel: {
      writes.cancel(token)
    }
  }

  /// Syncs the store's file, so that all previous commits survive a power failure.
  ///
  /// Call it after commits with a ``Durability`` less than `full`. Waits for the disk, but not for
  /// other writes.
  ///
  /// - Throws: ``StoreError`` with `permissionDenied` (the store is open read-only), `diskFull` or
  ///   `inputOutput`.
  public func sync() throws {
    try translating("writing \(path)") { try environment.sync() }
  }

  /// Runs the closure of a write, and measures its duration.
  func run<R>(
    _ body: (inout StoreTransaction) throws -> R,
    in transaction: inout StoreTransaction
  ) rethrows -> R {
    let start = ContinuousClock.now
    defer { metrics.add(.write, since: start) }
    return try body(&transaction)
  }

  func commit(
    _ transaction: consuming StoreTransaction,
    _ durability: Durability,
    withoutNotifying observers: Set<ObserverID>
  ) throws {
    let start = ContinuousClock.now
    let changes = try transaction.recordHistory(
      limit: historyLimit,
      isObserved: feed.isObserved
    )
    let (number, hasChanges) = (transaction.commitNumber, transaction.hasChanges)
    let prepared = hasChanges ? feed.prepare(number, suppressedFor: observers) : nil
    do {
      try transaction.commit(durability)
    } catch {
      feed.cancel(prepared)
      throw error
    }
    // Readers see the commit from here on. A transaction without changes is not a commit.
    guard hasChanges else { return }
    metrics.add(.commit, since: start)
    feed.publish(number, changes, prepared)
  }
}
