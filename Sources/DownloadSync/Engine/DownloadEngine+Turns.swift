internal import DownloadStore
internal import Foundation
internal import ObjectStore

extension DownloadEngine {
  /// Changes how many downloads run, and how many from one host.
  ///
  /// A higher limit lets others start at once; a lower one stops nobody.
  public func setLimits(_ limits: ConcurrencyLimits) {
    self.limits = limits
    inbox.post(.ticked)
  }

  /// Has the record wait for its turn, unless it is only started by hand; what is known of one that
  /// waits already is brought up to date.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - wait: How long its next attempt has to wait from now on; `nil` where only the record's date
  ///     says so.
  func enqueue(_ record: DownloadRecord, after wait: Duration? = nil) {
    guard record.mayStart, active[record.url] == nil, !isTransferred(record.id) else { return }
    let known = queue[record.url]
    // Whoever is asked for at once arrives anew: what started since is not in its way.
    let keepsPlace = known.map { $0.startsImmediately || !record.startsImmediately } ?? false
    if !keepsPlace { order += 1 }
    queue.insert(
      candidate(of: record, order: keepsPlace ? known?.order ?? order : order),
      notBefore: retryDeadline(of: record, after: wait)
    )
  }

  /// When the record may be tried again; `nil` for at once.
  private func retryDeadline(of record: DownloadRecord, after wait: Duration?) -> RetryDeadline? {
    guard record.state == .failedRetryable, let date = record.nextRetryAt else { return nil }
    let instant = environment.instant()
    if let wait { return RetryDeadline(date: date, instant: instant.advanced(by: wait)) }
    // The system clock may have been set since the wait began.
    if let known = queue.retryDeadline(of: record.url), known.date == date { return known }
    return RetryDeadline(date, now: now(), instant: instant, longestWait: options.retry.cap)
  }

  /// What a turn is decided by.
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

  /// Whether a transfer of the record of that id is live, whatever the record's URL is by now.
  func isTransferred(_ id: String) -> Bool {
    active.values.contains { $0.record.id == id }
  }

  /// What starts now, and which transfers end to make room.
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

  /// Ends transfers for others that were asked for at once: each then waits until somebody resumes
  /// it.
  func preempt(_ urls: [String]) async throws {
    try await stopTransfers(urls, areHeld: true)
  }

  /// Ends transfers whose records wait from then on.
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

  /// A suspect that has run for a while without a crash is one no more.
  func endProbation() {
    for download in active.values
    where download.candidate.isSuspect
      && download.startedAt.duration(to: environment.instant()) >= options.probation
    {
      active[download.record.url]?.candidate.isSuspect = false
    }
  }

  // MARK: Full disks

  /// Has everything wait that goes to the volume of a record, which is full.
  func blockVolume(of record: DownloadRecord) async throws {
    guard let folder = try? roots.layout(of: record).folderPath else { return }
    let full = volume(of: record)
    diskSpace.noteFull(full, folder: folder, at: environment.instant())
    queue.block(volume: full)
    // A whole file that is being checked needs no more room.
    let others = active.urls.filter {
      active[$0]?.candidate.volume == full && active[$0]?.task != nil
    }
    try await stopTransfers(others)
  }

  /// Looks whether volumes have room again, each as seldom as the options say.
  func checkDiskSpace() {
    let due = diskSpace.due(at: environment.instant(), interval: options.diskSpaceInterval)
    for (volume, folder) in due {
      // Where one cannot ask, a try tells.
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
  /// Whether it waits for its turn or its next try, as its owner wants.
  var mayStart: Bool {
    intent == .run && !isHeld && (state == .waiting || state == .failedRetryable)
  }
}
