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
  }

  private static let idleReaderLimit = 32
  private let state = Mutex(State())

  // MARK: Readers

  /// Counts a reader in and hands out an idle transaction if there is one.
  func enterReader() -> OpaquePointer? {
    let idle = state.withLock { state -> UInt? in
      state.open += 1
      return state.idleReaders.popLast()
    }
    return unsafe idle.flatMap { unsafe OpaquePointer(bitPattern: $0) }
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
  /// `grow` is told whether an earlier write found the map full.
  func enterWriter(growing grow: (_ wasFull: Bool) throws(LMDBError) -> Void) throws(LMDBError) {
    try state.withLock { state throws(LMDBError) in
      if state.open == 0 {
        try grow(state.needsGrowth)
        state.needsGrowth = false
      }
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

  // MARK: Both

  /// Counts a transaction out that leaves nothing behind.
  func leave() {
    state.withLock { $0.open -= 1 }
  }

  /// Runs `body` if nothing is open, with new transactions held off; says whether it ran.
  func whenIdle(_ body: () throws(LMDBError) -> Void) throws(LMDBError) -> Bool {
    try state.withLock { state throws(LMDBError) -> Bool in
      guard state.open == 0 else { return false }
      try body()
      return true
    }
  }

  private static var currentThread: UInt {
    #if canImport(Darwin)
      unsafe UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
