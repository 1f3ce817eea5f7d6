internal import DownloadStore
internal import Foundation
internal import ObjectStore

extension DownloadEngine {
  /// Changes the concurrency limits.
  ///
  /// A higher limit lets waiting downloads start immediately. A lower limit stops no running
  /// download. The limits are not stored.
  ///
  /// ```swift
  /// await engine.setLimits(ConcurrencyLimits(maximumRunning: 2, maximumPerHost: 1))
  /// ```
  ///
  /// - Parameter limits: The new limits.
  public func setLimits(_ limits: ConcurrencyLimits) {
    queue.limits = limits
    inbox.post(.ticked)
  }

  /// Inserts a record into the queue after an attempt or a reconciliation, or updates its entry.
  ///
  /// Has no effect if the record may not start (``DownloadRecord/mayStart``), already has a transfer,
  /// or is to have one after a check of its partial file.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - wait: The time from now until its next attempt; `nil` to compute it from the record's
  ///     date.
  func enqueue(_ record: DownloadRecord, after wait: Duration? = nil) {
    guard record.mayStart, !isOccupied(record) else { return }
    queue.insertAgain(record, volume: locations.volume(of: record)) { known in
      deadline(of: record, after: wait, known)
    }
  }

  /// Inserts a record that another writer has added or changed, updates its entry, or leaves it in
  /// the store.
  ///
  /// Otherwise as ``enqueue(_:after:)``.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - isNew: Whether it was added.
  func offer(_ record: DownloadRecord, isNew: Bool) {
    guard record.mayStart, !isOccupied(record) else { return }
    queue.offer(
      record,
      isNew: isNew,
      volume: locations.volume(of: record)
    ) { known in
      futureDeadline(of: record, known)
    }
  }

  /// Reads the downloads that the queue needs.
  ///
  /// Blocks for one short read transaction.
  ///
  /// - Throws: `StoreError`.
  func read(_ need: Backlog.Need) throws {
    let page = try store.objects.read { tx in
      try tx.queuePage(at: need.position, size: options.queueBounds.page)
    }
    try locations.update(for: page.records, in: store)
    let running = Set(active.values.map(\.record.id))
    let stored = page.records.compactMap { record -> StartQueue.Stored? in
      // The end of a transfer or of a check enqueues its record.
      guard active[record.url] == nil, !running.contains(record.id), !checks.contains(record) else {
        return nil
      }
      return StartQueue.Stored(
        record: record,
        volume: locations.volume(of: record),
        // A date further away than the longest wait was stored before the clock was set back.
        deadline: policy.isRetryDue(of: record, at: now())
          ? startDeadline(of: record) : futureDeadline(of: record)
      )
    }
    queue.insert(stored, of: page, for: need)
  }

  /// Whether a record has a transfer, its partial file is being checked, or its complete file is on the
  /// way to its name.
  ///
  /// The end of the transfer, of the check or of the rename decides about it.
  func isOccupied(_ record: DownloadRecord) -> Bool {
    active[record.url] != nil || active.transfer(ofRecord: record.id) != nil
      || checks.contains(record) || completion.isRenaming(record)
  }

  /// The time before which a record does not start; `nil` if it may start now.
  private func futureDeadline(
    of record: DownloadRecord,
    _ known: RetryDeadline? = nil
  ) -> RetryDeadline? {
    // The deadline of a date that has passed is the instant of its computation, so the clock is read
    // after it: otherwise the record would seem to wait for the time between the two.
    deadline(of: record, known).flatMap { $0.instant > environment.instant() ? $0 : nil }
  }

  /// The time before which a record does not start; `nil` for none.
  private func deadline(
    of record: DownloadRecord,
    after wait: Duration? = nil,
    _ known: RetryDeadline? = nil
  ) -> RetryDeadline? {
    let deadlines = [retryDeadline(of: record, after: wait, known), startDeadline(of: record)]
    return deadlines.compactMap { $0 }.max { $0.instant < $1.instant }
  }

  private func retryDeadline(
    of record: DownloadRecord,
    after wait: Duration?,
    _ known: RetryDeadline?
  ) -> RetryDeadline? {
    guard record.state == .failedRetryable, let date = record.nextRetryAt else { return nil }
    let instant = environment.instant()
    if let wait { return RetryDeadline(date: date, instant: instant.advanced(by: wait)) }
    // The system clock may have been set since the wait began.
    if let known, known.date == date { return known }
    return RetryDeadline(
      date,
      now: now(),
      instant: instant,
      longestWait: options.retry.longestWait(of: record)
    )
  }

  /// The time at which the queue offers a record that must not start yet.
  ///
  /// At most a minute away: the record is then checked against the system clock again, which may have
  /// been set in the meantime.
  private func startDeadline(of record: DownloadRecord) -> RetryDeadline? {
    guard let date = record.notBefore, !record.isDue(at: now()) else { return nil }
    return RetryDeadline(
      date,
      now: now(),
      instant: environment.instant(),
      longestWait: .seconds(60)
    )
  }

  /// Ends a transfer that is no longer wanted, or that another download preempts.
  func endTransfer(_ url: String) {
    if let download = active.noteEnding(url) { cancel(download) }
  }

  /// Cancels the preparations and the tasks of a transfer.
  func cancel(_ download: ActiveTransfer) {
    download.preparation?.cancel()
    cancelTasks(of: download)
  }

  /// Cancels the tasks of a transfer, and those that are being prepared beside the first one.
  func cancelTasks(of download: ActiveTransfer) {
    download.transfer.endLimit()
    for part in download.parts.values { part.preparation?.cancel() }
    download.copy?.cancel()
    for task in download.tasks where task != download.copy?.id { transport.cancel(task) }
  }

  /// Ends transfers and returns their records to the queue.
  ///
  /// - Parameters:
  ///   - urls: The URLs of the transfers.
  ///   - areHeld: Whether the records are held until the user resumes them.
  /// - Throws: ``EngineError`` with `diskFull`; `StoreError`.
  func stopTransfers(_ urls: [String], areHeld: Bool) async throws {
    let leaving = urls.compactMap { active[$0]?.transfer.key }
    guard !leaving.isEmpty else { return }
    let moment = now()
    try await commit { tx in
      for key in leaving {
        try tx.apply(.interrupted(isHeld: areHeld), to: key, at: moment)
      }
    }
    for url in urls { endTransfer(url) }
  }

  /// Prevents starts on the full volume of a record, and ends the transfers that write to it.
  ///
  /// If the volume has space, and only the missing bytes of the record do not fit, the others continue.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `StoreError`.
  func blockVolume(of record: DownloadRecord) async throws {
    guard let folder = try? locations.layout(of: record).folderPath else { return }
    let full = locations.volume(of: record)
    let isFull = queue.noteNoSpace(
      for: record.missingBytes,
      on: full,
      folder: folder,
      at: environment.instant(),
      available: environment.availableBytes
    )
    guard isFull else { return }
    // A complete file whose digest is being computed needs no more space.
    let others = active.urls.filter {
      active[$0]?.candidate.volume == full && active[$0]?.tasks.isEmpty == false
    }
    try await stopTransfers(others, areHeld: false)
  }
}

extension DownloadRecord {
  /// Whether the earliest time of its start has come.
  func isDue(at moment: Date) -> Bool {
    startsImmediately || notBefore.map { $0 <= moment } ?? true
  }
}
