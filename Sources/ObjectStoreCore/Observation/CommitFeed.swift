internal import LMDB
internal import SystemInterface

/// Wakes the observers of a store when this or another process commits.
package final class CommitFeed: Sendable {
  fileprivate struct State {
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastWaiter: UInt64 = 0
    var observers = 0
    var watcher: ChangeWatcher?
    /// The suppressed commits that each registered observer has not taken yet.
    var suppressed: [UInt64: (observer: ObserverID, commits: Set<UInt64>)] = [:]
    var lastRegistration: UInt64 = 0
    /// Commits in progress that are suppressed for some observers.
    var prepared: [PreparedCommit: (number: UInt64, observers: Set<ObserverID>)] = [:]
    var lastPrepared: UInt64 = 0
    /// The number of the last commit for which observers were woken.
    var lastNumber: UInt64 = 0
    /// The changes of the last commits of this store value, in the order of publication.
    var recent: [(number: UInt64, models: [HistoryEntry.ModelEntry])] = []
    var isClosed = false
  }

  /// The maximum number of commits in ``State/recent``.
  ///
  /// Observers that are further behind read the history.
  private static let maximumRecentCount = 64

  private let environment: Environment
  private let notifier: ChangeNotifier
  /// Continuations are resumed after the lock is released.
  private let state = Mutex(State())

  init(environment: Environment, notifier: ChangeNotifier) {
    self.environment = environment
    self.notifier = notifier
  }

  /// Whether the store has an observer.
  var isObserved: Bool { state.withLock { $0.observers > 0 } }

  /// Whether ``close()`` was called.
  ///
  /// No observer waits any more.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  // MARK: Commits

  /// Identifies a commit in progress that is suppressed for some observers.
  package struct PreparedCommit: Hashable {
    fileprivate let number: UInt64
  }

  /// Registers, before a commit, the observers for which it is suppressed.
  ///
  /// They may see the commit before it is published.
  ///
  /// Call ``publish(_:_:_:)`` or ``cancel(_:)`` afterwards.
  ///
  /// - Returns: `nil` if there are no such observers.
  func prepare(_ number: UInt64, suppressedFor observers: Set<ObserverID>) -> PreparedCommit? {
    guard !observers.isEmpty else { return nil }
    return state.withLock { state in
      state.lastPrepared += 1
      let commit = PreparedCommit(number: state.lastPrepared)
      state.prepared[commit] = (number, observers)
      return commit
    }
  }

  /// Discards a prepared commit that failed.
  ///
  /// The next commit may get the same number.
  func cancel(_ commit: PreparedCommit?) {
    guard let commit else { return }
    state.withLock { $0.prepared[commit] = nil }
  }

  /// Wakes the observers after a commit of this store value, and notifies other processes.
  ///
  /// - Parameters:
  ///   - number: The number of the commit, which readers already see.
  ///   - models: Its changes, if they are known.
  ///   - prepared: The result of ``prepare(_:suppressedFor:)``.
  package func publish(
    _ number: UInt64,
    _ models: [HistoryEntry.ModelEntry]?,
    _ prepared: PreparedCommit? = nil
  ) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      if let prepared { state.complete(prepared) }
      guard state.observers > 0 else { return [] }
      if let models { state.recent.append((number, models)) }
      if state.recent.count > Self.maximumRecentCount { state.recent.removeFirst() }
      state.lastNumber = max(state.lastNumber, number)
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
    notifier.notify()
  }

  /// Wakes the observers if a commit of any process is visible that they were not woken for.
  func check() {
    // Use the id of a snapshot, not that in the meta page. The meta page can be ahead of what
    // readers see: briefly during a commit, and for longer after a writer was killed.
    guard let number = try? environment.beginRead().id else { return wakeAll() }
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard number != state.lastNumber else { return [] }
      state.lastNumber = number
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns the changes of the commits after `first` through `last`, in order.
  ///
  /// Returns `nil` unless all of them were made by this store value and are still in memory.
  func commits(
    after first: UInt64,
    through last: UInt64
  ) -> [(number: UInt64, models: [HistoryEntry.ModelEntry])]? {
    state.withLock { state in
      guard first <= last, last - first <= UInt64(state.recent.count) else { return nil }
      // Two threads may have published their commits out of order.
      let wanted = state.recent.filter { $0.number > first && $0.number <= last }
        .sorted { $0.number < $1.number }
      guard wanted.count == last - first else { return nil }
      return wanted
    }
  }

  // MARK: Observers

  /// Registers an observer until the returned value is released.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - isWatching: Whether it is to be woken. Otherwise it only knows the commits that are
  ///     suppressed for it, and costs nothing else.
  /// - Returns: The registration.
  func register(_ observer: ObserverID, isWatching: Bool = true) -> ObserverRegistration {
    let (isFirst, id) = state.withLock { state in
      if isWatching { state.observers += 1 }
      state.lastRegistration += 1
      state.suppressed[state.lastRegistration] = (observer, [])
      return (isWatching && state.observers == 1, state.lastRegistration)
    }
    if isFirst { startWatching() }
    return ObserverRegistration(feed: self, id: id, isWatching: isWatching)
  }

  fileprivate func takeSuppressed(_ id: UInt64, through number: UInt64) -> Set<UInt64>? {
    state.withLock { state in
      guard let (observer, commits) = state.suppressed[id] else { return [] }
      let isInProgress = state.prepared.values.contains { prepared in
        prepared.number <= number && prepared.observers.contains(observer)
      }
      guard !isInProgress else { return nil }
      state.suppressed[id]?.commits = commits.filter { $0 > number }
      return commits.filter { $0 <= number }
    }
  }

  private func startWatching() {
    let watcher = ChangeWatcher(notifier.path) { [weak self] in self?.check() }
    state.withLock { state in
      // In the meantime, another thread may have started a watcher, or the last observer may have
      // been removed.
      if state.observers > 0, state.watcher == nil { state.watcher = watcher }
    }
  }

  fileprivate func unregister(_ id: UInt64, isWatching: Bool) {
    let watcher = state.withLock { state -> ChangeWatcher? in
      state.suppressed[id] = nil
      guard isWatching else { return nil }
      state.observers -= 1
      guard state.observers == 0 else { return nil }
      state.recent = []
      defer { state.watcher = nil }
      return state.watcher
    }
    // Release the watcher outside the lock, because its handler takes the lock.
    _ = consume watcher
  }

  /// Waits until a commit after `number` is visible, the task is cancelled or the feed is closed.
  ///
  /// May also return spuriously.
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
        // A commit or cancellation before the waiter was added did not wake it. Check for both.
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

  /// Ends every observation of this store value.
  func close() {
    state.withLock { $0.isClosed = true }
    wakeAll()
  }
}

extension CommitFeed.State {
  /// Adds a prepared commit, which has succeeded, to the suppressed commits of its observers.
  fileprivate mutating func complete(_ commit: CommitFeed.PreparedCommit) {
    guard let (number, observers) = prepared.removeValue(forKey: commit) else { return }
    for (id, entry) in suppressed where observers.contains(entry.observer) {
      suppressed[id]?.commits.insert(number)
    }
  }

  fileprivate mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
    defer { waiters.removeAll(keepingCapacity: true) }
    return Array(waiters.values)
  }
}

/// The registration of an observer with a store's feed.
///
/// The feed watches for commits of other processes while it has at least one that is watching.
final class ObserverRegistration: Sendable {
  private let feed: CommitFeed
  private let id: UInt64
  private let isWatching: Bool

  fileprivate init(feed: CommitFeed, id: UInt64, isWatching: Bool) {
    self.feed = feed
    self.id = id
    self.isWatching = isWatching
  }

  deinit { feed.unregister(id, isWatching: isWatching) }

  /// Removes and returns the commits through `number` that are suppressed for the observer.
  ///
  /// Returns `nil` if such a commit is in progress: it may be visible already but is not published
  /// yet. Yield and try again.
  func takeSuppressed(through number: UInt64) -> Set<UInt64>? {
    feed.takeSuppressed(id, through: number)
  }
}

/// Identifies an observation, so that a write can be excluded from it.
///
/// Each observation sequence has one, which its copies share; see ``ResultChanges/observer``. Only
/// the store value that created the sequence recognizes it.
///
/// ```swift
/// let notes = store.observe(Note.all)
/// let observer: ObserverID = notes.observer
/// try store.write(withoutNotifying: [observer]) { tx in try tx.upsert(note) }
/// ```
public struct ObserverID: Sendable, Hashable {
  private static let last = Atomic<UInt64>(0)

  private let number: UInt64

  init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}
