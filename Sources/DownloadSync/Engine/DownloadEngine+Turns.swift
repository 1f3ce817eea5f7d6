internal import DownloadStore
internal import Foundation
internal import ObjectStore

extension DownloadEngine {
  /// Changes the concurrency limits.
  ///
  /// A higher limit lets waiting downloads start immediately. A lower limit stops no running
  /// download. The limits are not stored.
  ///
  /// - Parameter limits: The new limits.
  public func setLimits(_ limits: ConcurrencyLimits) {
    self.limits = limits
    inbox.post(.ticked)
  }

  /// Inserts a record into the queue, or updates its entry.
  ///
  /// Has no effect if the record may not start (``DownloadRecord/mayStart``) or already has a
  /// transfer.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - wait: The time from now until its next attempt; `nil` to compute it from the record's
  ///     date.
  func enqueue(_ record: DownloadRecord, after wait: Duration? = nil) {
    guard record.mayStart, active[record.url] == nil, !isTransferred(record.id) else { return }
    let known = queue[record.url]
    // A request to start immediately is a new arrival: it may preempt every download that started
    // earlier.
    let keepsPlace = known.map { $0.startsImmediately || !record.startsImmediately } ?? false
    if !keepsPlace { order += 1 }
    queue.insert(
      candidate(of: record, order: keepsPlace ? known?.order ?? order : order),
      notBefore: retryDeadline(of: record, after: wait)
    )
  }

  /// Returns the time of the record's next attempt; `nil` if it may start immediately.
  private func retryDeadline(of record: DownloadRecord, after wait: Duration?) -> RetryDeadline? {
    guard record.state == .failedRetryable, let date = record.nextRetryAt else { return nil }
    let instant = environment.instant()
    if let wait { return RetryDeadline(date: date, instant: instant.advanced(by: wait)) }
    // The system clock may have been set since the wait began.
    if let known = queue.retryDeadline(of: record.url), known.date == date { return known }
    return RetryDeadline(date, now: now(), instant: instant, longestWait: options.retry.cap)
  }

  /// Returns the properties of a record that decide when it starts.
  func candidate(of record: DownloadRecord, order: Int) -> Scheduler.Candidate {
    Scheduler.Candidate(
      recordID: record.id,
      url: record.url,
      origin: RecordIdentity.origin(of: record.source),
      priority: record.priority,
      order: order,
      isSuspect: record.unresolvedStarts > 0,
      startsImmediately: record.startsImmediately,
      volume: volume(of: record),
      missingBytes: record.expected.map { max(0, $0 - record.received) }
    )
  }

  /// Whether a transfer of the record is active, under its current or a previous URL.
  func isTransferred(_ id: String) -> Bool {
    active.values.contains { $0.record.id == id }
  }

  /// Chooses the downloads that start now, and the transfers that are preempted for them.
  ///
  /// Removes the chosen downloads from the queue.
  func nextStarts() -> (starting: [Scheduler.Candidate], leaving: [String]) {
    queue.advance(to: environment.instant())
    var running = active.values.map {
      Scheduler.Running(
        candidate: $0.candidate,
        started: $0.started,
        isEnding: $0.isEnding
      )
    }
    var starting: [Scheduler.Candidate] = []
    var leaving: [String] = []
    let scheduler = Scheduler(limits: shortage.limiting(limits))
    while let step = scheduler.next(&queue, running: running) {
      switch step {
      case .start(let candidate):
        guard hasDiskSpace(for: candidate, beside: starting) else {
          queue.deferUntilUnblocked(candidate)
          continue
        }
        order += 1
        running.append(Scheduler.Running(candidate: candidate, started: order))
        starting.append(candidate)
      case .preempt(let url):
        leaving.append(url)
        for index in running.indices
        where running[index].candidate.url.utf8.elementsEqual(url.utf8) {
          running[index].isEnding = true
        }
      }
    }
    return (starting, leaving)
  }

  /// Ends transfers in favor of downloads that start immediately.
  ///
  /// The ended downloads are held until the user resumes them.
  func preempt(_ urls: [String]) async throws {
    try await stopTransfers(urls, areHeld: true)
  }

  /// Ends transfers and returns their records to the queue.
  private func stopTransfers(
    _ urls: [String],
    areHeld: Bool = false
  ) async throws {
    let leaving = urls.compactMap { active[$0]?.transfer.key }
    guard !leaving.isEmpty else { return }
    let moment = now()
    try await commit { tx in
      for key in leaving {
        try tx.update(key, if: { $0.state == .running }) {
          $0.interrupt(isHeld: areHeld, at: moment)
        }
      }
    }
    for url in urls { endTransfer(url) }
  }

  /// Ends the probation of crash suspects that have run long enough without a crash.
  func endProbation() {
    for download in active.values
    where download.candidate.isSuspect
      && download.startedAt.duration(to: environment.instant()) >= options.probation
    {
      active[download.record.url]?.candidate.isSuspect = false
    }
  }

  // MARK: Full disks

  /// Prevents starts on the full volume of a record, and ends the transfers that write to it.
  func blockVolume(of record: DownloadRecord) async throws {
    guard let folder = try? roots.layout(of: record).folderPath else { return }
    let full = volume(of: record)
    diskSpace.noteFull(full, folder: folder, at: environment.instant())
    queue.block(volume: full)
    // A complete file whose digest is being computed needs no more space.
    let others = active.urls.filter {
      active[$0]?.candidate.volume == full && active[$0]?.task != nil
    }
    try await stopTransfers(others)
  }

  /// Checks the free space of monitored volumes, each at most once per `diskSpaceInterval`.
  func checkDiskSpace() {
    let due = diskSpace.due(at: environment.instant(), interval: options.diskSpaceInterval)
    for (volume, folder) in due {
      // If free space cannot be queried, try the write.
      let available = environment.availableBytes(folder) ?? .max
      if diskSpace.note(available, on: volume, isAwaited: queue.hasDeferred(volume: volume)) {
        queue.unblock(volume: volume)
      }
    }
  }

  private func hasDiskSpace(
    for candidate: Scheduler.Candidate,
    beside starting: [Scheduler.Candidate]
  ) -> Bool {
    guard let folder = diskSpace.folder(toCheckOn: candidate.volume),
      let available = environment.availableBytes(folder)
    else { return true }
    let live = active.values.filter { $0.candidate.volume == candidate.volume }
      .map(\.missingBytes)
    let others = starting.filter { $0.volume == candidate.volume }.map(\.missingBytes)
    return DiskSpaceMonitor.fits(
      candidate.missingBytes,
      beside: live + others,
      available: available
    )
  }

  private func volume(of record: DownloadRecord) -> UInt64 {
    guard let folder = try? roots.layout(of: record).folderPath else { return 0 }
    if let known = volumes[folder] { return known }
    let volume = Volume.identifier(ofFolder: folder)
    volumes[folder] = volume
    return volume
  }
}

extension DownloadRecord {
  /// Whether the record waits for a slot or its next attempt, and is not paused, held or given up.
  var mayStart: Bool {
    intent == .run && !isHeld && (state == .waiting || state == .failedRetryable)
  }
}
