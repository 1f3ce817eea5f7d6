internal import LMDB
internal import Synchronization

/// Tells the observers of one store that somebody has committed.
final class CommitFeed: Sendable {
  fileprivate struct State {
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastWaiter: UInt64 = 0
    var observers = 0
    var watch: DoorbellWatch?
    /// The last commit that the observers were woken for.
    var lastNumber: UInt64 = 0
    /// What the last commits of this store value have changed, in the order in which they were
    /// told.
    var recent: [(number: UInt64, models: [HistoryEntry.ModelEntry])] = []
    var isClosed = false
  }

  /// Observers that are further behind read the history.
  private static let mostRecent = 64

  private let environment: Environment
  private let bell: Doorbell
  /// Held to look at lists and to change them; continuations are resumed outside of it.
  private let state = Guarded(State())

  init(environment: Environment, bell: Doorbell) {
    self.environment = environment
    self.bell = bell
  }

  /// Whether anybody observes.
  var isObserved: Bool { state.withLock { $0.observers > 0 } }

  /// Whether observations were ended: no observer waits any more.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  // MARK: Commits

  /// Tells of a commit of this store value, which is visible already, and what it changed, if that
  /// is known.
  func publish(_ number: UInt64, _ models: [HistoryEntry.ModelEntry]?) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard state.observers > 0 else { return [] }
      if let models { state.recent.append((number, models)) }
      if state.recent.count > Self.mostRecent { state.recent.removeFirst() }
      state.lastNumber = max(state.lastNumber, number)
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
    bell.ring()
  }

  /// Looks whether anybody, in any process, has committed.
  func check() {
    // The number of a snapshot, not the one that the file's last page says: for a moment, and after
    // a kill for longer, that one is ahead of what can be read.
    guard let number = try? environment.beginRead().id else { return wakeAll() }
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard number != state.lastNumber else { return [] }
      state.lastNumber = number
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// What the commits after one number, up to another, have changed; `nil` unless each of them was
  /// this store value's and is remembered.
  func commits(after first: UInt64, through last: UInt64) -> [HistoryEntry.ModelEntry]? {
    state.withLock { state in
      guard last - first <= UInt64(state.recent.count) else { return nil }
      // Two threads may have told of their commits in the other order.
      let wanted = state.recent.filter { $0.number > first && $0.number <= last }
        .sorted { $0.number < $1.number }
      guard wanted.count == last - first else { return nil }
      return wanted.flatMap(\.models)
    }
  }

  // MARK: Observers

  /// Counts an observer in for as long as the lease lives.
  func lease() -> ObserverLease {
    let isFirst = state.withLock { state in
      state.observers += 1
      return state.observers == 1
    }
    if isFirst { beginWatching() }
    return ObserverLease(feed: self)
  }

  private func beginWatching() {
    let watch = DoorbellWatch(bell.path) { [weak self] in self?.check() }
    state.withLock { state in
      // Somebody else may have begun to, or the last observer may have gone meanwhile.
      if state.observers > 0, state.watch == nil { state.watch = watch }
    }
  }

  fileprivate func leave() {
    let watch = state.withLock { state -> DoorbellWatch? in
      state.observers -= 1
      guard state.observers == 0 else { return nil }
      state.recent = []
      defer { state.watch = nil }
      return state.watch
    }
    // Ends outside the lock, which its handler may want.
    _ = consume watch
  }

  /// Waits until a commit after that number is visible, the task is cancelled or observations end;
  /// may return without cause.
  func wait(after number: UInt64) async {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isWaiting = state.withLock { state in
          if !state.isClosed { state.waiters[id] = continuation }
          return !state.isClosed
        }
        guard isWaiting else { return continuation.resume() }
        // What came before this one was on the list has woken nobody.
        if Task.isCancelled || (try? environment.beginRead().id) != number { wake(id) }
      }
    } onCancel: {
      wake(id)
    }
  }

  private func wake(_ id: UInt64) {
    state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
  }

  private func wakeAll() {
    for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume() }
  }

  /// Ends every observation.
  func close() {
    state.withLock { $0.isClosed = true }
    wakeAll()
  }
}

extension CommitFeed.State {
  fileprivate mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
    defer { waiters.removeAll(keepingCapacity: true) }
    return Array(waiters.values)
  }
}

/// Keeps a store's feed attentive while somebody observes.
final class ObserverLease: Sendable {
  private let feed: CommitFeed

  fileprivate init(feed: CommitFeed) {
    self.feed = feed
  }

  deinit { feed.leave() }
}
