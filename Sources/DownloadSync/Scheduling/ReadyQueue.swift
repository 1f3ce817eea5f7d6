/// The downloads that wait for a slot, in the order in which they start.
///
/// Each pair of host and volume has a queue of its own, so that a host without a free slot, or a
/// full volume, is skipped as a whole. A download that is removed from the middle of a host queue
/// leaves a tombstone, which is dropped when it reaches the front.
struct ReadyQueue: Sendable {
  /// A download's position in the starting order.
  struct Position: Comparable, Sendable {
    var startsImmediately: Bool
    var wasSlow: Bool
    var priority: Int32
    var order: Int
    /// Distinguishes successive insertions of the same download.
    var sequence: Int

    fileprivate init(_ candidate: Scheduler.Candidate, _ sequence: Int) {
      startsImmediately = candidate.startsImmediately
      wasSlow = candidate.wasSlow
      priority = candidate.priority
      order = candidate.order
      self.sequence = sequence
    }

    static func == (left: Self, right: Self) -> Bool { left.sequence == right.sequence }

    static func < (left: Self, right: Self) -> Bool {
      if left.startsImmediately != right.startsImmediately { return left.startsImmediately }
      if left.wasSlow != right.wasSlow { return right.wasSlow }
      if left.priority != right.priority { return left.priority > right.priority }
      if left.order != right.order { return left.order < right.order }
      return left.sequence < right.sequence
    }
  }

  /// The first position of a host queue.
  struct Head: Comparable, Sendable {
    fileprivate var position: Position
    fileprivate var hostQueue: Int

    static func < (left: Self, right: Self) -> Bool { left.position < right.position }
  }

  private struct HostQueue: Sendable {
    var positions = BinaryHeap<Position>()
    /// The number of positions without tombstones.
    var count = 0
    var volume: UInt64
    /// The sequence number of this queue's entry in `heads`; `nil` when it has none.
    var headSequence: Int?
  }

  private struct Delayed: Comparable, Sendable {
    var instant: ContinuousClock.Instant
    var sequence: Int

    static func < (left: Self, right: Self) -> Bool {
      left.instant == right.instant
        ? left.sequence < right.sequence : left.instant < right.instant
    }
  }

  private enum Place: Sendable {
    /// In its host queue.
    case hostQueue
    /// In the list of crash suspects.
    case suspect
    /// Waiting for the time of its next attempt.
    case delayed
    /// Waiting until its volume has enough free space for it.
    case deferred
  }

  private struct Entry: Sendable {
    var candidate: Scheduler.Candidate
    var place: Place
    /// When its next attempt may start; kept after that time has passed.
    var retry: RetryDeadline?
  }

  /// The current sequence number of each waiting download.
  private var sequences = URLTable<Int>()
  /// The waiting downloads by sequence number.
  private var entries: [Int: Entry] = [:]
  private var hostQueues: [HostQueue] = []
  private var hostQueueIndexes: [HostQueueKey: Int] = [:]
  private var heads = BinaryHeap<Head>()
  private var suspects: [Position] = []
  private var delayed = BinaryHeap<Delayed>()
  private var deferrals: [UInt64: Set<Int>] = [:]
  /// The heads of host queues whose volume is blocked.
  private var blockedHeads: [UInt64: [Head]] = [:]
  private var blockedVolumes: Set<UInt64> = []
  private var counts: [UInt64: Int] = [:]
  private var lastSequence = 0
  /// The number of downloads that wait for the time of their next attempt.
  private(set) var delayedCount = 0
  /// The number of downloads that start before all others.
  private(set) var immediateCount = 0
  /// An upper bound of the removed downloads that are still in host queues or in `delayed`.
  private var tombstones = 0

  // MARK: Waiting downloads

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  /// The URLs of all waiting downloads, in an order that is the same in every run.
  var urls: [String] { sequences.urls }

  /// The number of downloads of a host that wait only for a slot.
  func count(of host: HostQueueKey) -> Int {
    hostQueueIndexes[host].map { hostQueues[$0].count } ?? 0
  }

  /// The number of downloads to a volume that the free space is not enough for.
  func deferredCount(volume: UInt64) -> Int { deferrals[volume]?.count ?? 0 }

  /// Whether no download to a volume starts.
  func isBlocked(volume: UInt64) -> Bool { blockedVolumes.contains(volume) }

  /// The first download of a host that waits only for a slot; `nil` if there is none.
  mutating func first(of host: HostQueueKey) -> Scheduler.Candidate? {
    guard let index = hostQueueIndexes[host], dropTombstones(index) else { return nil }
    return hostQueues[index].positions.first.flatMap { entries[$0.sequence]?.candidate }
  }

  /// Whether every waiting download waits for disk space; false for an empty queue.
  var waitsOnlyForDiskSpace: Bool {
    let held = blockedVolumes.reduce(0) { $0 + (counts[$1] ?? 0) }
    let deferred = deferrals.reduce(0) {
      blockedVolumes.contains($1.key) ? $0 : $0 + $1.value.count
    }
    return !entries.isEmpty && entries.count == held + deferred
  }

  /// The waiting download with a URL; `nil` if it does not wait.
  subscript(_ url: String) -> Scheduler.Candidate? {
    sequences[url].flatMap { entries[$0]?.candidate }
  }

  /// The retry deadline that a waiting download was inserted with, even if it has passed.
  func retryDeadline(of url: String) -> RetryDeadline? {
    sequences[url].flatMap { entries[$0]?.retry }
  }

  /// The download of a head; `nil` if it does not wait any more.
  subscript(_ head: Head) -> Scheduler.Candidate? { entries[head.position.sequence]?.candidate }

  // MARK: Inserting and removing

  /// Inserts a download, replacing its previous entry.
  ///
  /// - Parameters:
  ///   - candidate: The download.
  ///   - retry: When it may start at the earliest; `nil` for immediately.
  /// - Complexity: O(log n).
  mutating func insert(_ candidate: Scheduler.Candidate, notBefore retry: RetryDeadline? = nil) {
    let place = retry == nil ? (candidate.isSuspect ? Place.suspect : .hostQueue) : .delayed
    let position = enter(candidate, place, retry)
    if let retry {
      delayed.insert(Delayed(instant: retry.instant, sequence: position.sequence))
    } else {
      append(position, candidate)
    }
  }

  private mutating func enter(
    _ candidate: Scheduler.Candidate,
    _ place: Place,
    _ retry: RetryDeadline? = nil
  ) -> Position {
    remove(candidate.url)
    if tombstones > entries.count + 1_024 { rebuild() }
    lastSequence += 1
    sequences[candidate.url] = lastSequence
    entries[lastSequence] = Entry(candidate: candidate, place: place, retry: retry)
    counts[candidate.volume, default: 0] += 1
    if place == .delayed { delayedCount += 1 }
    if candidate.startsImmediately { immediateCount += 1 }
    return Position(candidate, lastSequence)
  }

  /// Removes a download.
  ///
  /// - Complexity: O(1); O(s) for one of s crash suspects.
  mutating func remove(_ url: String) {
    guard let sequence = sequences[url], let entry = entries.removeValue(forKey: sequence) else {
      return
    }
    sequences[url] = nil
    let volume = entry.candidate.volume
    counts[volume] = counts[volume].flatMap { $0 > 1 ? $0 - 1 : nil }
    if entry.candidate.startsImmediately { immediateCount -= 1 }
    switch entry.place {
    case .suspect: suspects.removeAll { $0.sequence == sequence }
    case .deferred: deferrals[volume]?.remove(sequence)
    case .hostQueue:
      tombstones += 1
      if let index = hostQueueIndexes[entry.candidate.host] { hostQueues[index].count -= 1 }
    case .delayed:
      tombstones += 1
      delayedCount -= 1
    }
  }

  /// Moves delayed downloads whose time has come into their host queues.
  ///
  /// - Complexity: O(k log n) for k such downloads.
  mutating func advance(to now: ContinuousClock.Instant) {
    while let first = delayed.first, first.instant <= now {
      _ = delayed.popFirst()
      guard let candidate = entries[first.sequence]?.candidate else { continue }
      delayedCount -= 1
      entries[first.sequence]?.place = candidate.isSuspect ? .suspect : .hostQueue
      append(Position(candidate, first.sequence), candidate)
    }
  }

  private mutating func append(_ position: Position, _ candidate: Scheduler.Candidate) {
    guard !candidate.isSuspect else {
      // There are at most as many suspects as downloads ran when the process ended.
      let index = suspects.firstIndex { position < $0 } ?? suspects.endIndex
      return suspects.insert(position, at: index)
    }
    let host = candidate.host
    let index = hostQueueIndexes[host] ?? hostQueues.count
    if index == hostQueues.count {
      hostQueueIndexes[host] = index
      hostQueues.append(HostQueue(volume: candidate.volume))
    }
    hostQueues[index].positions.insert(position)
    hostQueues[index].count += 1
    refresh(index)
  }

  // MARK: Taking downloads

  /// The first crash suspect that satisfies a condition and whose volume is not blocked.
  func firstSuspect(where condition: (Scheduler.Candidate) -> Bool) -> Scheduler.Candidate? {
    for suspect in suspects {
      if let candidate = entries[suspect.sequence]?.candidate,
        !blockedVolumes.contains(candidate.volume), condition(candidate)
      {
        return candidate
      }
    }
    return nil
  }

  /// Removes and returns the first head of all host queues.
  ///
  /// The caller passes it to ``take(_:)`` or, with others, to ``putBack(_:)``.
  ///
  /// - Complexity: O(log n), plus the tombstones that it drops.
  mutating func popHead() -> Head? {
    while let head = heads.popFirst() {
      guard hostQueues[head.hostQueue].headSequence == head.position.sequence else { continue }
      let volume = hostQueues[head.hostQueue].volume
      if blockedVolumes.contains(volume) {
        blockedHeads[volume, default: []].append(head)
        continue
      }
      hostQueues[head.hostQueue].headSequence = nil
      if isQueued(head.position) { return head }
      refresh(head.hostQueue)
    }
    return nil
  }

  /// Returns heads that were not taken.
  mutating func putBack(_ passed: [Head]) {
    for head in passed {
      hostQueues[head.hostQueue].headSequence = head.position.sequence
      heads.insert(head)
    }
  }

  /// Removes the download of a head.
  mutating func take(_ head: Head) {
    if let url = self[head]?.url { remove(url) }
    refresh(head.hostQueue)
  }

  /// Puts the first download of a host queue into `heads`, after dropping its tombstones.
  private mutating func refresh(_ hostQueue: Int) {
    guard dropTombstones(hostQueue), let first = hostQueues[hostQueue].positions.first,
      hostQueues[hostQueue].headSequence != first.sequence
    else {
      return
    }
    hostQueues[hostQueue].headSequence = first.sequence
    heads.insert(Head(position: first, hostQueue: hostQueue))
  }

  /// Drops the tombstones at the front of a host queue; false if nothing else is left.
  private mutating func dropTombstones(_ hostQueue: Int) -> Bool {
    while let first = hostQueues[hostQueue].positions.first {
      if isQueued(first) { return true }
      _ = hostQueues[hostQueue].positions.popFirst()
    }
    return false
  }

  /// Rebuilds all queues without tombstones.
  private mutating func rebuild() {
    (hostQueues, hostQueueIndexes, heads, blockedHeads) = ([], [:], BinaryHeap(), [:])
    (delayed, suspects) = (BinaryHeap(), [])
    tombstones = 0
    for (sequence, entry) in entries {
      switch entry.place {
      case .hostQueue, .suspect: append(Position(entry.candidate, sequence), entry.candidate)
      case .delayed:
        guard let retry = entry.retry else { continue }
        delayed.insert(Delayed(instant: retry.instant, sequence: sequence))
      case .deferred: break
      }
    }
  }

  private func isQueued(_ position: Position) -> Bool {
    if case .hostQueue? = entries[position.sequence]?.place { true } else { false }
  }

  // MARK: Full volumes

  /// Prevents all downloads to a volume from starting.
  mutating func block(volume: UInt64) {
    blockedVolumes.insert(volume)
  }

  /// Keeps a download waiting until its volume is unblocked: the free space is not enough for it.
  mutating func deferUntilUnblocked(_ candidate: Scheduler.Candidate) {
    let position = enter(candidate, .deferred)
    deferrals[candidate.volume, default: []].insert(position.sequence)
  }

  /// Lets the downloads to a volume start again.
  mutating func unblock(volume: UInt64) {
    blockedVolumes.remove(volume)
    for head in blockedHeads.removeValue(forKey: volume) ?? [] { heads.insert(head) }
    for sequence in (deferrals.removeValue(forKey: volume) ?? []).sorted() {
      if let candidate = entries[sequence]?.candidate { insert(candidate) }
    }
  }

  /// Whether downloads to a volume are deferred.
  func hasDeferred(volume: UInt64) -> Bool { deferrals[volume]?.isEmpty == false }
}

/// The host and the volume whose downloads share a queue.
struct HostQueueKey: Hashable, Comparable, Sendable {
  /// Scheme, host and port.
  var origin: String
  var volume: UInt64

  static func < (left: Self, right: Self) -> Bool {
    left.origin == right.origin ? left.volume < right.volume : left.origin < right.origin
  }
}

extension Scheduler.Candidate {
  var host: HostQueueKey { HostQueueKey(origin: origin, volume: volume) }
}
