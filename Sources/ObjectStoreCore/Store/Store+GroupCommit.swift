internal import LMDB
internal import SystemInterface

extension Store {
  /// Runs queued writes, in batches, until the queue is empty.
  func drainWrites() {
    while true {
      var batch = writes.takeBatch()
      guard !batch.isEmpty else { return }
      // Writes that were not started because the map was full run in the next transaction.
      while !batch.isEmpty { batch = commitTogether(batch) }
    }
  }

  /// Runs the writes in one transaction, each in a nested transaction, and commits once.
  ///
  /// A write that throws does not undo the others. If the commit fails, all of them fail with its
  /// error. If a write finds the map full, only this write fails and the writes after it are not
  /// started, because the map can only grow between transactions.
  ///
  /// - Returns: The writes that were not started.
  private func commitTogether(_ batch: ArraySlice<WriteQueue.Write>) -> ArraySlice<WriteQueue.Write>
  {
    var succeeded: [(resume: @Sendable () -> Void, write: WriteQueue.Write)] = []
    var begun = batch.startIndex
    do {
      try translating("writing \(path)") {
        var transaction = try beginWrite()
        let isAlone = batch.count == 1
        while begun < batch.endIndex {
          let write = batch[begun]
          begun += 1
          do {
            let resume =
              isAlone
              ? try run(write.run, in: &transaction)
              : try transaction.nested { try run(write.run, in: &$0) }
            succeeded.append((resume, write))
          } catch {
            let error = translated(error)
            write.fail(error)
            guard !isAlone else { return }
            if (error as? StoreError)?.code == .mapFull { break }
          }
        }
        guard let durability = succeeded.map(\.write.durability).max() else { return }
        try commit(transaction, durability, withoutNotifying: batch[batch.startIndex].suppressedFor)
        log?.didCommitTogether(succeeded.count, durability: durability)
      }
      for write in succeeded { write.resume() }
    } catch {
      guard begun > batch.startIndex else {
        // The transaction could not begin.
        for write in batch { write.fail(error) }
        return []
      }
      for write in succeeded { write.write.fail(error) }
    }
    return batch[begun...]
  }

  private func translated(_ error: any Error) -> any Error {
    (error as? LMDBError).map { StoreError($0, "writing \(path)") } ?? error
  }
}

/// A FIFO queue of the asynchronous writes of a store that have not started.
final class WriteQueue: Sendable {
  /// A queued write.
  struct Write: Sendable {
    var durability: Durability
    /// The observers that do not report the commit.
    var suppressedFor: Set<ObserverID>
    /// Runs the caller's closure.
    ///
    /// Returns a closure that resumes the caller after the commit.
    var run: @Sendable (inout StoreTransaction) throws -> @Sendable () -> Void
    var fail: @Sendable (any Error) -> Void
  }

  /// Identifies a queued write, so that its caller can cancel it.
  final class CancellationToken: Sendable {
    fileprivate let isCancelled = Atomic(false)
  }

  private struct State {
    var writes: [(token: CancellationToken, write: Write)] = []
    var isDraining = false
  }

  /// The maximum number of writes in a commit.
  ///
  /// The limit bounds the latency: the first write waits for the last one, and other processes wait
  /// for all.
  static let maximumBatchSize = 256

  /// The lock is held only to add or remove writes, never while a write runs.
  private let state = Mutex(State())

  /// The number of queued writes.
  var count: Int { state.withLock { $0.writes.count } }

  /// Adds a write.
  ///
  /// - Returns: Whether the caller must start to drain the queue.
  /// - Throws: `CancellationError` if the token was already cancelled.
  func add(_ write: Write, _ token: CancellationToken) throws -> Bool {
    try state.withLock { state in
      guard !token.isCancelled.load(ordering: .relaxed) else { throw CancellationError() }
      state.writes.append((token, write))
      defer { state.isDraining = true }
      return !state.isDraining
    }
  }

  /// Removes the write and fails it with `CancellationError`, unless it has started.
  func cancel(_ token: CancellationToken) {
    let write = state.withLock { state -> Write? in
      token.isCancelled.store(true, ordering: .relaxed)
      let index = state.writes.firstIndex { $0.token === token }
      return index.map { state.writes.remove(at: $0).write }
    }
    write?.fail(CancellationError())
  }

  /// Removes and returns the writes of the next commit, which all have the same observers.
  ///
  /// If it is empty, draining has ended, and the next ``add(_:_:)`` returns true.
  func takeBatch() -> ArraySlice<Write> {
    state.withLock { state in
      let observers = state.writes.first?.write.suppressedFor
      let batch = state.writes.prefix(Self.maximumBatchSize).map(\.write)
        .prefix { $0.suppressedFor == observers }
      state.writes.removeFirst(batch.count)
      if batch.isEmpty { state.isDraining = false }
      return batch
    }
  }
}
