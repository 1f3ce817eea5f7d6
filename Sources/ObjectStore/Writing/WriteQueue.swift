internal import LMDB
internal import Synchronization

/// The asynchronous writes of a store that have not begun, in the order in which they came.
final class WriteQueue: Sendable {
  /// A write that waits.
  struct Write: Sendable {
    var durability: Durability
    /// What observes and is not to hear of the commit.
    var suppressedFor: Set<ObserverID>
    /// Runs the caller's closure; what it gives back resumes the caller, once committed.
    var run: @Sendable (inout StoreTransaction) throws -> @Sendable () -> Void
    var fail: @Sendable (any Error) -> Void
  }

  /// One caller's place in the queue.
  final class Ticket: Sendable {
    fileprivate let isCancelled = Atomic(false)
  }

  private struct State {
    var writes: [(ticket: Ticket, write: Write)] = []
    var isDrained = false
  }

  /// So many writes share a commit at most: the first of them waits for the last, and other
  /// processes for all.
  static let largestBatch = 256

  /// Held for as long as it takes to add or remove a write, never while one runs.
  private let state = Guarded(State())

  /// How many writes wait.
  var count: Int { state.withLock { $0.writes.count } }

  /// Adds a write, and says whether somebody must drain the queue now.
  ///
  /// - Throws: `CancellationError` when the ticket was cancelled before.
  func add(_ write: Write, _ ticket: Ticket) throws -> Bool {
    try state.withLock { state in
      guard !ticket.isCancelled.load(ordering: .relaxed) else { throw CancellationError() }
      state.writes.append((ticket, write))
      defer { state.isDrained = true }
      return !state.isDrained
    }
  }

  /// Takes the write out and fails it, unless it has begun.
  func cancel(_ ticket: Ticket) {
    let write = state.withLock { state -> Write? in
      ticket.isCancelled.store(true, ordering: .relaxed)
      let place = state.writes.firstIndex { $0.ticket === ticket }
      return place.map { state.writes.remove(at: $0).write }
    }
    write?.fail(CancellationError())
  }

  /// Takes the writes that are to share the next commit, of which the same observers are not to hear;
  /// after none, the drain is over.
  func takeBatch() -> ArraySlice<Write> {
    state.withLock { state in
      let observers = state.writes.first?.write.suppressedFor
      let batch = state.writes.prefix(Self.largestBatch).map(\.write)
        .prefix { $0.suppressedFor == observers }
      state.writes.removeFirst(batch.count)
      if batch.isEmpty { state.isDrained = false }
      return batch
    }
  }
}
