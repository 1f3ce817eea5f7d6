internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Applies the changes that the user or another process has committed.
  ///
  /// New and changed records are reconciled. Transfers end whose record was removed, paused,
  /// cancelled or restarted. The files of cancelled and removed downloads are deleted, also of those
  /// that the engine does not run. Costs O(changes + transfers) since the last call, up to a bound: after
  /// more changes, or if the store's history no longer contains them all, the waiting downloads are read
  /// again when slots need them.
  func applyStoreChanges() async throws {
    let changes = try follower.next()
    if case .none = changes { return }
    locations.update(try store.roots())
    try followRateLimit()
    switch changes {
    case .none: break
    case .some(let inserted, let updated, let deleted):
      try await applyChanges(
        inserted + updated,
        newIDs: Set(inserted.map(\.id)),
        gone: deleted + (try await vanishedURLs())
      )
    case .unknown:
      try await applyUnknownChanges()
    }
    queue.noteChangesApplied()
  }

  /// Passes a new rate limit of the store on to the transport.
  private func followRateLimit() throws {
    let limit = try store.rateLimit()
    guard limit != rateLimit else { return }
    rateLimit = limit
    transport.follow(rateLimit: limit)
  }

  /// Returns the URLs of transfers, and of checks, whose records are not in the store any more.
  ///
  /// The changes do not contain all of them. The engine may have found a record in the store before
  /// it read the record's insertion from the history. If the record has been deleted or moved to
  /// another URL since then, the history contains neither of the two.
  private func vanishedURLs() async throws -> [String] {
    let urls = active.urls + checks.urls
    guard !urls.isEmpty else { return [] }
    let records = try await store.objects.read { tx in
      try tx.find(DownloadRecord.self, keys: urls)
    }
    return zip(urls, records).compactMap { url, record in record == nil ? url : nil }
  }

  /// Compares the transfers and the queue with the store, and reads the waiting downloads again.
  ///
  /// Costs O(memory), and not O(active): the queue is bounded.
  private func applyUnknownChanges() async throws {
    follower.skip(to: try store.objects.historyToken())
    var found: [DownloadRecord] = []
    var gone: [String] = []
    for url in queue.urls + active.urls + checks.urls {
      if let record = try await current(url) { found.append(record) } else { gone.append(url) }
    }
    if options.scope == nil { queue.readStore() }
    joined.readAgain()
    try await applyChanges(found, gone: gone)
    try await reconcileInterrupted()
    try await join()
  }

  /// Compares changed records with the active transfers and the queue.
  ///
  /// - Parameters:
  ///   - records: The inserted or changed records.
  ///   - newIDs: The ids of the inserted ones.
  ///   - gone: The URLs of deleted records.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`;
  ///   `StoreError`.
  func applyChanges(
    _ records: [DownloadRecord],
    newIDs: Set<String> = [],
    gone: [String]
  ) async throws {
    var givenUp: [Scheduler.Candidate] = []
    for url in gone {
      if let candidate = removeWaiting(url) { givenUp.append(candidate) }
      endTransfer(url)
    }
    var idle: [Reconciliation] = []
    for record in records where isInScope(record) || record.isToBeDeleted {
      if active[record.url] != nil {
        try await applyChange(record)
      } else if record.mayStart {
        // A check of another generation's file is of no use.
        if !checks.contains(record) { checks.remove(record.url) }
        // It is reconciled when it starts: nothing else depends on its files.
        offer(record, isNew: newIDs.contains(record.id))
      } else {
        if let candidate = removeWaiting(record.url) { givenUp.append(candidate) }
        // If a transfer of the record is still ending, that end reconciles it.
        if record.state.isActive, active.transfer(ofRecord: record.id) == nil {
          idle.append(inspect(record))
        }
      }
    }
    try await execute(idle)
    for candidate in givenUp {
      // A record that was moved to another URL continues, so its observers receive no end.
      let isMoved = records.contains {
        $0.id == candidate.recordID && !$0.url.utf8.elementsEqual(candidate.url.utf8)
      }
      dispatcher.emit(.released(url: candidate.url), of: isMoved ? nil : candidate.recordID)
    }
  }

  /// Removes a download without a transfer from the queue, or ends the check of its partial file.
  ///
  /// - Returns: The place in the queue that it had; `nil` if it did not wait.
  private func removeWaiting(_ url: String) -> Scheduler.Candidate? {
    guard let candidate = queue.remove(url) ?? checks.remove(url)?.candidate else { return nil }
    queue.noteGivenUp(candidate.recordID)
    return candidate
  }

  /// Compares an active transfer with the current record.
  private func applyChange(_ record: DownloadRecord) async throws {
    let url = record.url
    guard let download = active[url], !download.isEnding else { return }
    // A record of another generation was restarted, or removed and added again.
    guard download.transfer.key.matches(record) else { return endTransfer(url) }
    download.transfer.limit(as: record)
    active.noteLimits(of: record, options.split)
    let found = inspect(record, task: .running)
    switch found.effects.task {
    case .cancel:
      log("reconcile", record, ["rules": found.decision.ruleNames])
      endTransfer(url)
    case .adopt:
      // A command has changed the state, for example a pause that was followed by a resume.
      guard record.state != .running else { return }
      let moment = now()
      try await commit { tx in
        _ = try tx.apply(
          .transferContinued,
          to: TransferKey(record),
          if: { $0.state == record.state },
          at: moment
        )
      }
    case .keep, .await:
      break
    }
  }

  /// Retries the deletions whose folder could not be synced and whose wait is over.
  func retryDeletions() async throws {
    let urls = deletions.due(at: environment.instant())
    guard !urls.isEmpty else { return }
    let records = try await store.objects.read { tx in
      try urls.compactMap { try tx.find(DownloadRecord.self, key: $0) }
    }
    var due: [DownloadRecord] = []
    for url in urls {
      let record = records.first { $0.url.utf8.elementsEqual(url.utf8) }
      if let record, record.isToBeDeleted {
        due.append(record)
      } else {
        // Another process has purged the record, or has requested the download again.
        deletions.remove(url)
      }
    }
    try await applyChanges(due, gone: [])
  }
}
