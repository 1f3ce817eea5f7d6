internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Counts the open transactions of this process and keeps ended read transactions for reuse.
///
/// LMDB may only move its map while no transaction of the process is open; this is where that is
/// known. The lock is held for some tens of nanoseconds, except while the map moves.
final class TransactionGate: Sendable {
  private struct State {
    var open = 0
    /// Addresses of reset read transactions.
    ///
    /// An idle transaction belongs to nobody: only the thread that takes it out under the lock
    /// touches it. Each keeps a slot in the lock file, so few are kept.
    var idleReaders: [UInt] = []
    /// The thread that has, or waits for, each write transaction of this process.
    var writers: [UInt] = []
    /// A write found the map full; the next writer enlarges it.
    var needsGrowth = false
    /// How many threads wait for a moment without transactions.
    var movers = 0
    var nextReaderCheck = ContinuousClock.now + TransactionGate.readerCheckInterval
  }

  private static let idleReaderLimit = 32
  private static let readerCheckInterval = Duration.seconds(30)
  private let state = Guarded(State())

  // MARK: Readers

  /// Counts a reader in and hands out an idle transaction if there is one.
  func enterReader() -> OpaquePointer? {
    // Whoever waits to move the map must get his moment even if reads overlap without end. But a
    // thread may hold one read while it begins another, so the wait is bounded.
    var patience = 50
    while true {
      let (isIn, idle) = state.withLock { state -> (Bool, UInt?) in
        if state.movers > 0, state.open > 0, patience > 0 { return (false, nil) }
        state.open += 1
        return (true, state.idleReaders.popLast())
      }
      if isIn { return unsafe idle.flatMap { unsafe OpaquePointer(bitPattern: $0) } }
      patience -= 1
      usleep(1_000)
    }
  }

  /// Counts a reader out.
  ///
  /// Returns false when its reset transaction is not kept and must be aborted.
  func leaveReader(_ transaction: OpaquePointer) -> Bool {
    let address = UInt(bitPattern: transaction)
    return state.withLock { state in
      state.open -= 1
      guard state.idleReaders.count < Self.idleReaderLimit else { return false }
      state.idleReaders.append(address)
      return true
    }
  }

  /// Hands every idle transaction to `abort`.
  func drain(_ abort: (OpaquePointer) -> Void) {
    let idle = state.withLock { state -> [UInt] in
      defer { state.idleReaders = [] }
      return state.idleReaders
    }
    for address in idle {
      if let transaction = unsafe OpaquePointer(bitPattern: address) { unsafe abort(transaction) }
    }
  }

  // MARK: Writers

  /// Counts a writer in; if nothing is open, lets the map grow first.
  ///
  /// `grow` is told whether an earlier write found the map full. Then the writer waits a second for
  /// a moment without transactions, and goes on without one after that.
  func enterWriter(growing grow: (_ wasFull: Bool) -> Void) {
    if state.withLock({ $0.needsGrowth }) {
      _ = whenIdle(within: 1_000) { grow(true) }
    }
    state.withLock { state in
      if state.open == 0 { grow(false) }
      state.open += 1
    }
  }

  /// Has the next writer enlarge the map.
  func requestGrowth() {
    state.withLock { $0.needsGrowth = true }
  }

  /// Notes that the calling thread is about to write.
  ///
  /// LMDB would hang for ever where this throws.
  func claimWriter() throws(LMDBError) {
    let thread = Self.currentThread
    try state.withLock { state throws(LMDBError) in
      guard !state.writers.contains(thread) else {
        throw LMDBError(.wouldDeadlock, operation: "mdb_txn_begin")
      }
      state.writers.append(thread)
    }
  }

  /// Notes that the calling thread's write transaction is over.
  func releaseWriter() {
    let thread = Self.currentThread
    state.withLock { $0.writers.removeAll { $0 == thread } }
  }

  /// Whether it is time to look for readers whose process is gone; says so once in an interval.
  func takeReaderCheck() -> Bool {
    let now = ContinuousClock.now
    return state.withLock { state in
      guard now >= state.nextReaderCheck else { return false }
      state.nextReaderCheck = now + Self.readerCheckInterval
      return true
    }
  }

  /// Makes the look for readers whose process is gone due at the next write.
  func requestReaderCheck() {
    state.withLock { $0.nextReaderCheck = .now }
  }

  // MARK: Both

  /// Counts a transaction out that leaves nothing behind.
  func leave() {
    state.withLock { $0.open -= 1 }
  }

  /// Runs `body` while the map cannot move.
  func holdingMap<R, E: Error>(_ body: () throws(E) -> sending R) throws(E) -> sending R {
    try state.withLock { _ throws(E) in try body() }
  }

  /// Runs `move` as soon as nothing is open, with new transactions held off; says whether that
  /// moment came within so many milliseconds.
  func whenIdle(within milliseconds: Int, _ move: () -> Void) -> Bool {
    state.withLock { $0.movers += 1 }
    defer { state.withLock { $0.movers -= 1 } }
    for _ in 0..<milliseconds {
      let isDone = state.withLock { state -> Bool in
        guard state.open == 0 else { return false }
        move()
        state.needsGrowth = false
        return true
      }
      if isDone { return true }
      usleep(1_000)
    }
    return false
  }

  private static var currentThread: UInt {
    #if canImport(Darwin)
      unsafe UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
