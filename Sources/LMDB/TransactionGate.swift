internal import SystemInterface

/// Counts the open transactions of this process, and pools ended read transactions for reuse.
///
/// LMDB may move its map only while no transaction of the process is open, which only this type
/// knows. The lock is held for some tens of nanoseconds, except while the map moves.
final class TransactionGate: Sendable {
  private struct State {
    var open = 0
    /// The reset read transactions.
    ///
    /// Each one occupies a reader slot in the lock file, so only a few are kept.
    var idleReaders: [PooledReader] = []
    /// The threads of this process that hold or wait for the write transaction.
    var writers: [UInt] = []
    /// Whether a write found the map full, so that the next writer enlarges it.
    var needsGrowth = false
    /// The number of threads that wait to resize the map.
    var resizeWaiters = 0
    var nextReaderCheck = ContinuousClock.now + TransactionGate.readerCheckInterval
  }

  private static let idleReaderLimit = 32
  private static let readerCheckInterval = Duration.seconds(30)
  private let state = Mutex(State())

  // MARK: Readers

  /// Registers a reader, and returns a pooled transaction if there is one.
  func enterReader() -> PooledReader? {
    // New readers wait while a thread waits to resize the map; otherwise overlapping reads could
    // delay the resize without end. The wait is bounded, because this thread may hold another read
    // transaction that the resize waits for.
    var attempts = 50
    while true {
      let (isRegistered, idle) = state.withLock { state -> (Bool, PooledReader?) in
        if state.resizeWaiters > 0, state.open > 0, attempts > 0 { return (false, nil) }
        state.open += 1
        return (true, state.idleReaders.popLast())
      }
      if isRegistered { return idle }
      attempts -= 1
      usleep(1_000)
    }
  }

  /// Unregisters a reader, and pools its reset transaction.
  ///
  /// Returns false if the pool is full; the caller then aborts the transaction.
  func leaveReader(_ reader: PooledReader) -> Bool {
    state.withLock { state in
      state.open -= 1
      guard state.idleReaders.count < Self.idleReaderLimit else { return false }
      state.idleReaders.append(reader)
      return true
    }
  }

  /// Empties the pool, and ends its transactions.
  func drain() {
    let idle = state.withLock { state -> [PooledReader] in
      defer { state.idleReaders = [] }
      return state.idleReaders
    }
    for reader in idle { reader.abort() }
  }

  // MARK: Writers

  /// Registers a writer, after enlarging the map if no transaction is open.
  ///
  /// `grow` receives whether an earlier write found the map full. After a full map the writer waits
  /// up to a second for the other transactions to end, and then proceeds even if the map has not
  /// grown.
  func enterWriter(growing grow: (_ wasFull: Bool) -> Void) {
    if state.withLock({ $0.needsGrowth }) {
      _ = whenIdle(within: 1_000) { grow(true) }
    }
    state.withLock { state in
      if state.open == 0 { grow(false) }
      state.open += 1
    }
  }

  /// Makes the next writer enlarge the map.
  func requestGrowth() {
    state.withLock { $0.needsGrowth = true }
  }

  /// Registers the calling thread as a writer.
  ///
  /// Throws `wouldDeadlock` where LMDB would deadlock.
  func claimWriter() throws(LMDBError) {
    let thread = Self.currentThread
    try state.withLock { state throws(LMDBError) in
      guard !state.writers.contains(thread) else {
        throw LMDBError(.wouldDeadlock, operation: "mdb_txn_begin")
      }
      state.writers.append(thread)
    }
  }

  /// Removes the calling thread from the writers.
  func releaseWriter() {
    let thread = Self.currentThread
    state.withLock { $0.writers.removeAll { $0 == thread } }
  }

  /// Returns whether the check for dead readers is due, and starts its next interval if so.
  func claimReaderCheck() -> Bool {
    let now = ContinuousClock.now
    return state.withLock { state in
      guard now >= state.nextReaderCheck else { return false }
      state.nextReaderCheck = now + Self.readerCheckInterval
      return true
    }
  }

  /// Makes the check for dead readers due at the next write.
  func requestReaderCheck() {
    state.withLock { $0.nextReaderCheck = .now }
  }

  // MARK: All transactions

  /// Unregisters a transaction that is not pooled.
  func leave() {
    state.withLock { $0.open -= 1 }
  }

  /// Runs `body` while the map cannot move.
  func withMapPinned<R, E: Error>(_ body: () throws(E) -> sending R) throws(E) -> sending R {
    try state.withLock { _ throws(E) in try body() }
  }

  /// Runs `body` once no transaction is open, while new readers wait.
  ///
  /// Returns whether that happened within the given time.
  func whenIdle(within milliseconds: Int, _ body: () -> Void) -> Bool {
    state.withLock { $0.resizeWaiters += 1 }
    defer { state.withLock { $0.resizeWaiters -= 1 } }
    for _ in 0..<milliseconds {
      let isDone = state.withLock { state -> Bool in
        guard state.open == 0 else { return false }
        body()
        state.needsGrowth = false
        return true
      }
      if isDone { return true }
      usleep(1_000)
    }
    return false
  }

  private static var currentThread: UInt {
    currentThreadNumber()
  }
}
