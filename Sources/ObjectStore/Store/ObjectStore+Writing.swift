internal import Dispatch
internal import LMDB

// The twins share a name by contract: `await` tells them apart.
// swift-format-ignore: AmbiguousTrailingClosureOverload
extension ObjectStore {
  /// Lends the write transaction to `body`, and commits when it returns.
  ///
  /// Waits for the write of any other thread or process. When `body` throws, nothing is written.
  ///
  /// - Parameters:
  ///   - durability: What the commit outlasts once this returns: by default a power cut too, for
  ///     two waits for the disk.
  ///   - observers: Sequences of changes, by their ``ResultChanges/observer``, that do not hear of
  ///     this commit, because who reads them knows already what it changes.
  ///   - body: Writes; it must not wait for another write of the store.
  /// - Returns: What `body` returns.
  /// - Throws: ``StoreError`` with `permissionDenied`, `full`, `diskFull`, `inputOutput`,
  ///   `tooNew` (a later version has migrated the store meanwhile) or `wouldDeadlock` (called from
  ///   inside a write), or what `body` throws.
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

  /// Lends the write transaction to `body` on the store's own queue, so that no thread of the
  /// caller's executor waits for the disk.
  ///
  /// Writes that wait at one time share one commit, with the greatest durability that any of them
  /// asks for, and so its waits for the disk: 64 tasks that write make many times the commits of
  /// one. Each still happens whole or not at all, in the order in which they came; one that throws
  /// does not undo the others. When the commit itself fails, all of them fail with its error. When
  /// the map is full, the write that finds it so fails alone with `full`, and those that have not
  /// begun go on in a larger map.
  ///
  /// A task that is cancelled before its write has begun does not write.
  ///
  /// - Parameters:
  ///   - durability: What the commit outlasts once this returns: by default a power cut too.
  ///   - observers: As with the synchronous twin. A commit is shared only with writes of which the
  ///     same sequences do not hear.
  ///   - body: Writes; it must not wait for another write of the store.
  /// - Returns: What `body` returns.
  /// - Throws: ``StoreError`` as the synchronous twin, `CancellationError`, or what `body` throws.
  @discardableResult
  public func write<R: Sendable>(
    durability: Durability = .full,
    withoutNotifying observers: Set<ObserverID> = [],
    _ body: @escaping @Sendable (inout StoreTransaction) throws -> R
  ) async throws -> R {
    let ticket = WriteQueue.Ticket()
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
          if try writes.add(write, ticket) { writeQueue.async { self.drainWrites() } }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    } onCancel: {
      writes.cancel(ticket)
    }
  }

  /// Makes every commit so far outlast a power cut, those that were written with less than
  /// ``Durability/full`` too.
  ///
  /// Waits for the disk, and for no other write.
  ///
  /// - Throws: ``StoreError`` with `permissionDenied` (the store is open for reading only),
  ///   `diskFull` or `inputOutput`.
  public func sync() throws {
    try translating("writing \(path)") { try environment.sync() }
  }

  /// Runs the closure of a write.
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
    let (number, hasChanges) = (transaction.changeCount, transaction.hasChanges)
    let prepared = hasChanges ? feed.prepare(number, suppressedFor: observers) : nil
    do {
      try transaction.commit(durability)
    } catch {
      feed.cancel(prepared)
      throw error
    }
    // From here on readers see it. What changes nothing is no commit.
    guard hasChanges else { return }
    metrics.add(.commit, since: start)
    feed.publish(number, changes, prepared)
  }
}
