internal import LMDB
internal import Synchronization

/// Tells the observers of one store that somebody has committed.
final class CommitFeed: Sendable {
  fileprivate struct State {
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastWaiter: UInt64 = 0
    var observers = 0
    var watch: DoorbellWatch?
    /// The observers' names, and the commits since each has last looked of which it is not to hear.
    var unheard: [UInt64: (observer: ObserverID, commits: Set<UInt64>)] = [:]
    var lastLease: UInt64 = 0
    /// Commits that are about to be made, and who is not to hear of them.
    var announced: [Announcement: (number: UInt64, observers: Set<ObserverID>)] = [:]
    var lastAnnouncement: UInt64 = 0
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

  /// Stands for a commit that is about to be made, until it is settled whether it was.
  struct Announcement: Hashable {
    fileprivate let number: UInt64
  }

  /// Says before a commit that some observers are not to hear of it, since they may see it before it
  /// is published.
  ///
  /// ``publish(_:_:_:)`` or ``withdraw(_:)`` must follow.
  func announce(_ number: UInt64, without observers: Set<ObserverID>) -> Announcement? {
    guard !observers.isEmpty else { return nil }
    return state.withLock { state in
      state.lastAnnouncement += 1
      let announcement = Announcement(number: state.lastAnnouncement)
      state.announced[announcement] = (number, observers)
      return announcement
    }
  }

  /// Takes back the announcement of a commit that has failed: the next one may get its number.
  func withdraw(_ announcement: Announcement?) {
    guard let announcement else { return }
    state.withLock { $0.announced[announcement] = nil }
  }

  /// Tells of a commit of this store value, which is visible already, and what it changed, if that
  /// is known.
  func publish(
    _ number: UInt64,
    _ models: [HistoryEntry.ModelEntry]?,
    _ announcement: Announcement? = nil
  ) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      if let announcement { state.settle(announcement) }
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

  /// What the commits after one number, up to another, have changed, in their order; `nil` unless
  /// each of them was this store value's and is remembered.
  func commits(
    after first: UInt64,
    through last: UInt64
  ) -> [(number: UInt64, models: [HistoryEntry.ModelEntry])]? {
    state.withLock { state in
      guard last - first <= UInt64(state.recent.count) else { return nil }
      // Two threads may have told of their commits in the other order.
      let wanted = state.recent.filter { $0.number > first && $0.number <= last }
        .sorted { $0.number < $1.number }
      guard wanted.count == last - first else { return nil }
      return wanted
    }
  }

  // MARK: Observers

  /// Counts an observer in for as long as the lease lives.
  func lease(_ observer: ObserverID) -> ObserverLease {
    let (isFirst, id) = state.withLock { state in
      state.observers += 1
      state.lastLease += 1
      state.unheard[state.lastLease] = (observer, [])
      return (state.observers == 1, state.lastLease)
    }
    if isFirst { beginWatching() }
    return ObserverLease(feed: self, id: id)
  }

  /// The commits up to that number of which the observer is not to hear, and which it is not told
  /// again; `nil` while one of them is not settled.
  fileprivate func takeUnheard(_ lease: UInt64, through number: UInt64) -> Set<UInt64>? {
    state.withLock { state in
      guard let (observer, commits) = state.unheard[lease] else { return [] }
      let isOpen = state.announced.values.contains { announced in
        announced.number <= number && announced.observers.contains(observer)
      }
      guard !isOpen else { return nil }
      state.unheard[lease]?.commits = commits.filter { $0 > number }
      return commits.filter { $0 <= number }
    }
  }

  private func beginWatching() {
    let watch = DoorbellWatch(bell.path) { [weak self] in self?.check() }
    state.withLock { state in
      // Somebody else may have begun to, or the last observer may have gone meanwhile.
      if state.observers > 0, state.watch == nil { state.watch = watch }
    }
  }

  fileprivate func leave(_ lease: UInt64) {
    let watch = state.withLock { state -> DoorbellWatch? in
      state.observers -= 1
      state.unheard[lease] = nil
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
  /// Notes for those who are not to hear of a commit that it was made.
  fileprivate mutating func settle(_ announcement: CommitFeed.Announcement) {
    guard let (number, observers) = announced.removeValue(forKey: announcement) else { return }
    for (lease, entry) in unheard where observers.contains(entry.observer) {
      unheard[lease]?.commits.insert(number)
    }
  }

  fileprivate mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
    defer { waiters.removeAll(keepingCapacity: true) }
    return Array(waiters.values)
  }
}

/// Keeps a store's feed attentive while somebody observes.
final class ObserverLease: Sendable {
  private let feed: CommitFeed
  private let id: UInt64

  fileprivate init(feed: CommitFeed, id: UInt64) {
    self.feed = feed
    self.id = id
  }

  deinit { feed.leave(id) }

  /// The commits up to that number of which the observer is not to hear, and which it is not told
  /// again; `nil` while one of them is not settled, which will be in a moment.
  func takeUnheard(through number: UInt64) -> Set<UInt64>? {
    feed.takeUnheard(id, through: number)
  }
}
