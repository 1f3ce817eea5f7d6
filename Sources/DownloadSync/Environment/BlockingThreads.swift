internal import Dispatch
internal import SystemInterface

/// Threads for work that blocks on a disk.
///
/// A global queue of Dispatch runs one block per processor, and Swift's tasks and the sinks of a
/// transport run on it as well. On two processors, two syncs would stop all transfers. A serial
/// queue gets a thread of its own while it has work.
final class BlockingThreads: Sendable {
  private struct State {
    /// The indices of the queues without work.
    var idle: [Int]
    /// The work for which no queue was idle.
    var waiting: [@Sendable () -> Void] = []
  }

  private let queues: [DispatchQueue]
  // Only held to access the fields.
  private let state: Mutex<State>

  /// Creates a value that uses up to `limit` threads at a time.
  init(limit: Int = 8) {
    queues = (0..<limit).map { DispatchQueue(label: "DownloadEngine.disk.\($0)") }
    state = Mutex(State(idle: Array(queues.indices)))
  }

  /// Runs work on one of the threads; waits in the order of the calls if all are in use.
  func run(_ work: @escaping @Sendable () -> Void) {
    let index = state.withLock { state -> Int? in
      if let index = state.idle.popLast() { return index }
      state.waiting.append(work)
      return nil
    }
    guard let index else { return }
    queues[index].async { [self] in
      var next: (@Sendable () -> Void)? = work
      while let work = next {
        work()
        next = takeNext(for: index)
      }
    }
  }

  /// Returns the work that has waited longest; if there is none, notes that the queue is idle.
  private func takeNext(for index: Int) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.idle.append(index)
      return nil
    }
  }
}

/// The results of several works that run at the same time.
final class GatheredResults<R: Sendable>: Sendable {
  private struct State {
    var results: [R?]
    var missingCount: Int
  }

  // Only held to access the fields.
  private let state: Mutex<State>

  /// Creates a value that awaits a number of results.
  init(count: Int) {
    state = Mutex(State(results: Array(repeating: nil, count: count), missingCount: count))
  }

  /// Stores a result; returns all results, in the order of their indices, if it was the last one.
  func note(_ result: R, at index: Int) -> [R]? {
    state.withLock { state in
      state.results[index] = result
      state.missingCount -= 1
      return state.missingCount == 0 ? state.results.compactMap { $0 } : nil
    }
  }
}
