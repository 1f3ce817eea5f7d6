internal import DownloadStore
internal import Foundation

/// Owns the downloads that wait for a slot, and everything that decides when they start: the
/// limits, the order of arrival, full volumes, and shortages of this machine.
///
/// Only the first downloads of each host are in memory. The others stay in the store, and
/// ``Starts/need`` says which of them to read.
///
/// Pure: clocks, free space and volumes are passed in.
struct StartQueue {
  /// The limits that the user set; they may change during the run.
  var limits: ConcurrencyLimits
  private let bounds: QueueBounds
  private var ready = ReadyQueue()
  private var backlog = Backlog()
  private var diskSpace = DiskSpaceMonitor()
  private var shortage = ResourceShortage()
  /// The ids of crash suspects whose probation has ended without a crash.
  private var cleared: Set<String> = []
  /// The ids of downloads that wait because they gave their slot up.
  private var slow: Set<String> = []
  /// The ids of downloads that were read from the store and given up since ``noteChangesApplied()``.
  ///
  /// The store's history may still report that they were added, after the frontier has passed them.
  private var givenUp: Set<String> = []
  /// The last number given to an arrival or a start.
  private var order = 0

  /// Creates an empty queue.
  init(limits: ConcurrencyLimits, bounds: QueueBounds = QueueBounds()) {
    self.limits = limits
    self.bounds = bounds
  }

  // MARK: Reading

  var isEmpty: Bool { ready.isEmpty && backlog.isEmpty }
  /// The number of waiting downloads in memory.
  var count: Int { ready.count }
  /// The URLs of the waiting downloads in memory, in an order that is the same in every run.
  var urls: [String] { ready.urls }

  subscript(url: String) -> Scheduler.Candidate? { ready[url] }

  /// The folder on a full volume that all waiting downloads wait for.
  ///
  /// `nil` if a download can start without free space, or none waits.
  var fullFolder: String? {
    guard backlog.waitsOnlyForDiskSpace, ready.isEmpty || ready.waitsOnlyForDiskSpace else {
      return nil
    }
    let volume = ready.urls.first.flatMap { ready[$0]?.volume } ?? backlog.skippedVolumes.min()
    return volume.map { diskSpace.folder(toCheckOn: $0) ?? "the file" }
  }

  /// Whether a volume has no free space for any download.
  func isFull(_ volume: UInt64) -> Bool { diskSpace.isFull(volume) }

  /// Whether a shortage of this machine delays all starts.
  func delaysStarts(at now: ContinuousClock.Instant) -> Bool { shortage.delaysStarts(at: now) }

  // MARK: Arrivals

  /// Returns the next number in the order of arrivals and starts.
  mutating func nextOrder() -> Int {
    order += 1
    return order
  }

  /// Inserts a record, or updates its entry.
  ///
  /// - Parameters:
  ///   - record: A record that may start.
  ///   - volume: The volume of its file.
  ///   - deadline: Computes the time of its next attempt, given the known one; `nil` to start as soon
  ///     as a slot is free.
  mutating func insert(
    _ record: DownloadRecord,
    volume: UInt64,
    notBefore deadline: (_ known: RetryDeadline?) -> RetryDeadline?
  ) {
    let known = ready[record.url]
    // A request to start immediately is a new arrival: it may preempt every download that started
    // earlier.
    let keepsPlace = known.map { $0.startsImmediately || !record.startsImmediately } ?? false
    let order = keepsPlace ? known?.order ?? order : nextOrder()
    var candidate = Scheduler.Candidate(record, order: order, volume: volume)
    if cleared.contains(record.id) { (candidate.isSuspect, candidate.runsAlone) = (false, false) }
    candidate.wasSlow = slow.contains(record.id)
    ready.insert(
      candidate,
      notBefore: deadline(ready.retryDeadline(of: record.url))
    )
  }

  /// Inserts a record whose attempt has ended, or leaves it in the store if many wait for a time.
  ///
  /// The parameters are those of ``insert(_:volume:notBefore:)``.
  mutating func insertAgain(
    _ record: DownloadRecord,
    volume: UInt64,
    notBefore deadline: (_ known: RetryDeadline?) -> RetryDeadline?
  ) {
    if ready[record.url] == nil, ready.delayedCount >= bounds.delayed, let time = deadline(nil) {
      return backlog.leave(until: time.instant, areManyDelayed: true)
    }
    insert(record, volume: volume, notBefore: deadline)
  }

  /// Inserts a record that was added or changed, or leaves it in the store if enough downloads come
  /// before it.
  ///
  /// - Parameters:
  ///   - record: A record that may start.
  ///   - isNew: Whether it was inserted after all records of the store.
  ///   - volume: The volume of its file.
  ///   - deadline: As for ``insert(_:volume:notBefore:)``; `nil` if it may start now.
  mutating func offer(
    _ record: DownloadRecord,
    isNew: Bool,
    volume: UInt64,
    notBefore deadline: (_ known: RetryDeadline?) -> RetryDeadline?
  ) {
    guard ready[record.url] == nil, record.unresolvedStarts == 0 else {
      return insert(record, volume: volume, notBefore: deadline)
    }
    if backlog.willRead(record, isNew: isNew && !givenUp.contains(record.id)) { return }
    if record.startsImmediately, ready.immediateCount < bounds.perHost {
      return insert(record, volume: volume, notBefore: deadline)
    }
    admit(
      Stored(record: record, volume: volume, deadline: deadline(nil)),
      from: QueuePosition(QueueLane(record))
    )
  }

  /// Notes that a waiting download is not to start, as far as is known now.
  mutating func noteGivenUp(_ recordID: String) {
    givenUp.insert(recordID)
  }

  /// Notes that the changes of the store up to now were offered.
  mutating func noteChangesApplied() {
    givenUp = []
  }

  /// Notes that crash suspects have run through their probation: they are treated as other downloads
  /// until the process ends.
  mutating func noteCleared(_ recordIDs: some Sequence<String>) {
    cleared.formUnion(recordIDs)
  }

  // MARK: The store

  /// Reads the downloads of the store from now on, except those in memory.
  mutating func readStore() {
    backlog.rewind()
  }

  /// Inserts downloads that were read from the store.
  ///
  /// - Parameters:
  ///   - stored: The records of a page that have no transfer, in order.
  ///   - page: The page.
  ///   - need: The need that the page was read for.
  mutating func insert(_ stored: [Stored], of page: QueuePage, for need: Backlog.Need) {
    backlog.note(need, readUpTo: page.next)
    for stored in stored where ready[stored.record.url] == nil {
      let isAdmitted =
        switch need {
        case .frontier: admit(stored, from: page.start)
        // The frontier or another cursor reads the downloads of other hosts.
        case .host(let host, _):
          stored.record.host(stored.volume) != host || admit(stored, from: nil)
        }
      if !isAdmitted, let lane = page.start.lane, lane.isInOrderOfTime {
        return backlog.note(need, readUpTo: QueuePosition(lane, isAfterLane: true))
      }
    }
  }

  /// Inserts a record that is not in memory, or notes why it stays in the store.
  ///
  /// - Parameters:
  ///   - stored: The record.
  ///   - position: A position before it; `nil` if the cursor of its host has read it.
  /// - Returns: False if it stays in the store because it waits for a time.
  @discardableResult
  private mutating func admit(_ stored: Stored, from position: QueuePosition?) -> Bool {
    let record = stored.record
    let host = record.host(stored.volume)
    let isHostFull = ready.count(of: host) >= bounds.perHost
    if let deadline = stored.deadline {
      let areManyDelayed = ready.delayedCount >= bounds.delayed
      guard !areManyDelayed, !isHostFull else {
        backlog.leave(until: deadline.instant, areManyDelayed: areManyDelayed)
        return false
      }
    } else if record.unresolvedStarts == 0 {
      if ready.isBlocked(volume: stored.volume) {
        backlog.skip(volume: stored.volume)
        return true
      }
      if let position, isHostFull || backlog.cursors[host] != nil {
        backlog.leave(host, at: position)
        return true
      }
    }
    insert(record, volume: stored.volume) { _ in stored.deadline }
    return true
  }

  /// The next downloads to read; `nil` if those that start next are in memory.
  private mutating func need(
    beside running: [Scheduler.Running],
    _ scheduler: Scheduler
  ) -> Backlog.Need? {
    // A download that starts immediately may preempt another one, so it needs no free slot.
    if let frontier = backlog.frontier, frontier.lane?.startsImmediately ?? true,
      ready.immediateCount == 0
    {
      return .frontier(frontier)
    }
    guard !backlog.cursors.isEmpty else { return nil }
    for (host, position) in backlog.cursors.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) })
    where scheduler.hasFreeSlot(for: host.origin, beside: running) {
      guard let first = ready.first(of: host), position.lane.map({ !$0.isBefore(first) }) ?? false
      else { return .host(host, position) }
    }
    return nil
  }

  /// Removes and returns a waiting download.
  @discardableResult
  mutating func remove(_ url: String) -> Scheduler.Candidate? {
    defer { ready.remove(url) }
    return ready[url]
  }

  // MARK: Starts

  /// Chooses and removes the downloads that start now.
  ///
  /// - Parameters:
  ///   - transfers: The active transfers.
  ///   - now: The current time.
  ///   - available: Returns the free space on the volume of a folder, in bytes; `nil` if unknown.
  /// - Returns: The downloads to start, and the transfers to end in their favor.
  mutating func takeStarts(
    beside transfers: ActiveTransfers,
    at now: ContinuousClock.Instant,
    available: (_ folder: String) -> Int64?
  ) -> Starts {
    ready.advance(to: now)
    backlog.advance(to: now, areFewDelayed: ready.delayedCount < bounds.delayed / 4)
    var running = transfers.values.map(\.running)
    var starts = Starts()
    let scheduler = Scheduler(limits: shortage.limiting(limits))
    while true {
      starts.need = need(beside: running, scheduler)
      guard starts.need == nil else { return starts }
      let step = scheduler.next(&ready, running: running) { [backlog] in !backlog.mayPrecede($0) }
      switch step {
      case nil:
        // Without a free slot, a slow transfer gives way to a download that is still in the store.
        if scheduler.hasFreeSlot(beside: running)
          || (ready.isEmpty && running.contains { $0.isSlow && !$0.isEnding })
        {
          starts.need = backlog.frontier.map(Backlog.Need.frontier)
        }
        return starts
      case .start(let candidate):
        let live = transfers.values.filter { $0.candidate.volume == candidate.volume }
          .map(\.missingBytes)
        guard hasSpace(for: candidate, beside: live, starts.starting, available) else {
          if ready.deferredCount(volume: candidate.volume) < bounds.perHost {
            ready.deferUntilUnblocked(candidate)
          } else {
            backlog.skip(volume: candidate.volume)
          }
          continue
        }
        slow.remove(candidate.recordID)
        running.append(Scheduler.Running(candidate: candidate, started: nextOrder()))
        starts.starting.append(candidate)
      case .preempt(let url):
        starts.preempted.append(url)
        noteEnding(url, in: &running)
      case .suspend(let url):
        starts.suspended.append(url)
        noteEnding(url, in: &running)
      case .endConnection(let url, let origin):
        starts.narrowed.append((url, origin))
        return starts
      case .awaitConnection:
        return starts
      }
    }
  }

  /// Notes that a running download is asked to end, and that it is the last to start again if it is
  /// slow.
  private mutating func noteEnding(_ url: String, in running: inout [Scheduler.Running]) {
    for index in running.indices
    where running[index].candidate.url.utf8.elementsEqual(url.utf8) {
      running[index].isEnding = true
      if running[index].isSlow { slow.insert(running[index].candidate.recordID) }
    }
  }

  private mutating func hasSpace(
    for candidate: Scheduler.Candidate,
    beside live: [Int64?],
    _ starting: [Scheduler.Candidate],
    _ available: (_ folder: String) -> Int64?
  ) -> Bool {
    guard let folder = diskSpace.folder(toCheckOn: candidate.volume),
      let available = available(folder)
    else { return true }
    let others = starting.filter { $0.volume == candidate.volume }.map(\.missingBytes)
    return diskSpace.mayStart(candidate, beside: live + others, available: available)
  }

  // MARK: Full volumes and shortages

  /// Prevents starts on a volume until a check finds free space.
  mutating func noteFull(_ volume: UInt64, folder: String, at now: ContinuousClock.Instant) {
    diskSpace.noteFull(volume, folder: folder, at: now)
    ready.block(volume: volume)
    backlog.block(volume: volume)
  }

  /// Compares starts on a volume with its free space, after a download was found not to fit.
  mutating func noteLimited(_ volume: UInt64, folder: String, at now: ContinuousClock.Instant) {
    diskSpace.noteLimited(volume, folder: folder, at: now)
  }

  /// Notes that a file did not get the space that it needs.
  ///
  /// A volume on which it seems to fit counts as full until the next check: a quota of the user may be
  /// exhausted, which the free space does not show. One that does not fit does not start at once,
  /// because a start compares the same number of missing bytes.
  ///
  /// - Parameters:
  ///   - missing: The missing bytes of the file; `nil` if its size is unknown.
  ///   - volume: Its volume.
  ///   - folder: Its folder.
  ///   - now: The current time.
  ///   - available: Returns the free space on the volume of a folder, in bytes; `nil` if unknown.
  /// - Returns: Whether no download to the volume can continue, or only this file does not fit.
  mutating func noteNoSpace(
    for missing: Int64?,
    on volume: UInt64,
    folder: String,
    at now: ContinuousClock.Instant,
    available: (_ folder: String) -> Int64?
  ) -> Bool {
    if let missing, let available = available(folder), available > DiskSpaceMonitor.reserve,
      !DiskSpaceMonitor.fits(missing, beside: [], available: available)
    {
      noteLimited(volume, folder: folder, at: now)
      return false
    }
    noteFull(volume, folder: folder, at: now)
    return true
  }

  /// Checks the free space of monitored volumes, each at most once per interval.
  mutating func checkDiskSpace(
    at now: ContinuousClock.Instant,
    interval: Duration,
    available: (_ folder: String) -> Int64?
  ) {
    for (volume, folder) in diskSpace.due(at: now, interval: interval) {
      // If free space cannot be queried, try the write.
      let available = available(folder) ?? .max
      let isAwaited =
        ready.hasDeferred(volume: volume) || backlog.skippedVolumes.contains(volume)
      if diskSpace.note(available, on: volume, isAwaited: isAwaited) {
        ready.unblock(volume: volume)
        backlog.unblock(volume: volume)
      }
    }
  }

  /// Notes a shortage of descriptors or memory, and returns the time until downloads start again.
  mutating func noteShortage(at now: ContinuousClock.Instant, running: Int) -> Duration {
    shortage.note(at: now, running: running)
  }

  /// Notes that a transfer makes progress, so that a shortage may be over.
  mutating func noteProgress() {
    shortage.noteProgress(limit: limits.maximumRunning)
  }
}

extension DownloadRecord {
  /// The host queue of a record whose file is on a volume.
  fileprivate func host(_ volume: UInt64) -> HostQueueKey {
    HostQueueKey(origin: RecordIdentity.origin(of: source), volume: volume)
  }
}
