internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Applies the changes that the user or another process has committed.
  ///
  /// New and changed records are reconciled. Transfers end whose record was removed, paused,
  /// cancelled or restarted. Costs O(changes) since the last call, or O(active) if the store's
  /// history no longer contains them all.
  func applyStoreChanges() async throws {
    // In this order, a commit between the two reads counts as not applied yet.
    let now = try store.objects.historyToken()
    let count = try store.objects.commitNumber()
    guard externalChanges.haveHappened(commitNumber: count) else {
      followed = now
      return
    }
    roots = try store.roots()
    volumes = [:]
    switch try store.objects.changes(since: followed, of: DownloadRecord.self) {
    case .changes(let changes):
      followed = changes.token
      let records = changes.updated.filter { $0.fields.concernEngines }.map(\.object)
      try await applyChanges(changes.inserted + records, gone: changes.deleted)
    case .expired:
      try await applyAllRecords()
    }
  }

  /// Compares all active records with the active transfers and the queue.
  private func applyAllRecords() async throws {
    let (records, token) = try await store.objects.read { tx in
      (
        try tx.fetch(DownloadRecord.where { $0.state.isIn(DownloadState.active) }),
        try tx.historyToken()
      )
    }
    followed = token
    var urls = URLTable<Void>()
    for record in records { urls[record.url] = () }
    var resting: [DownloadRecord] = []
    var gone: [String] = []
    for url in queue.urls + active.urls where urls[url] == nil {
      if let record = try await current(url) { resting.append(record) } else { gone.append(url) }
    }
    try await applyChanges(records + resting, gone: gone)
  }

  /// Compares changed records with the active transfers and the queue.
  ///
  /// - Parameters:
  ///   - records: The inserted or changed records.
  ///   - gone: The URLs of deleted records.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`;
  ///   `StoreError`.
  func applyChanges(_ records: [DownloadRecord], gone: [String]) async throws {
    var givenUp: [Scheduler.Candidate] = []
    for url in gone {
      if let candidate = queue[url] { givenUp.append(candidate) }
      queue.remove(url)
      endTransfer(url)
    }
    var idle: [Reconciliation] = []
    for record in records where isInScope(record.url) {
      if active[record.url] != nil {
        try await applyChange(record)
      } else if record.mayStart {
        // It is reconciled when it starts: nothing else depends on its files.
        enqueue(record)
      } else {
        if let candidate = queue[record.url] { givenUp.append(candidate) }
        queue.remove(record.url)
        // If a transfer of the record is still ending, that end reconciles it.
        if DownloadState.active.contains(record.state), !isTransferred(record.id) {
          idle.append(try inspect(record))
        }
      }
    }
    try await execute(idle)
    for candidate in givenUp {
      // A record that was moved to another URL continues, so its observers receive no end.
      let isMoved = records.contains {
        $0.id == candidate.recordID && !$0.url.utf8.elementsEqual(candidate.url.utf8)
      }
      emit(.released(url: candidate.url), of: isMoved ? nil : candidate.recordID)
    }
  }

  /// Compares an active transfer with the current record.
  private func applyChange(_ record: DownloadRecord) async throws {
    let url = record.url
    guard let download = active[url], !download.isEnding else { return }
    // A record of another generation was restarted, or removed and added again.
    guard download.transfer.key.isOf(record) else { return endTransfer(url) }
    let found = try inspect(record, task: .running)
    switch found.effects.task {
    case .cancel:
      log("reconcile", record, ["rules": found.decision.ruleNames])
      endTransfer(url)
    case .adopt:
      // A command has changed the state, for example a pause that was followed by a resume.
      guard record.state != .running else { return }
      try await commit { tx in
        _ = try tx.update(TransferKey(record), if: { $0.state == record.state }) {
          $0.continueTransfer()
        }
      }
    case .keep:
      break
    }
  }

  /// Ends a transfer that is no longer wanted, or that another download preempts.
  func endTransfer(_ url: String) {
    guard let download = active[url], !download.isEnding else { return }
    active[url]?.isEnding = true
    download.preparation?.cancel()
    if let task = download.task { transport.cancel(task) }
  }

  /// Removes a transfer that is over, and unlocks its partial file.
  func forget(_ url: String) {
    active[url]?.transfer.file.unlock()
    active[url] = nil
  }

  /// Handles the end of a transfer that no longer belongs to its record.
  ///
  /// Its bytes are deleted if the record was removed. A record that was moved to another URL
  /// continues from them.
  func discard(_ download: DownloadRecord, _ layout: FileLayout) async throws {
    let (owner, successor) = try await store.objects.read { tx in
      (
        try tx.first(DownloadRecord.where { $0.id == download.id }),
        try tx.get(DownloadRecord.self, download.url)
      )
    }
    // A record that was moved to another URL continues, so its observers receive no end.
    let isMoved = owner.map { !$0.url.utf8.elementsEqual(download.url.utf8) } ?? false
    emit(.released(url: download.url), of: isMoved ? nil : download.id)
    if owner == nil { placement.removePartial(layout.partialPath) }
    let records = [owner, successor?.id == owner?.id ? nil : successor].compactMap { $0 }
    try await execute(
      records.filter { isInScope($0.url) }.map { try inspect($0) }
    )
  }

  /// Returns the stored record with a URL.
  func current(_ url: String) async throws -> DownloadRecord? {
    try await store.objects.read { tx in try tx.get(DownloadRecord.self, url) }
  }

  func isInScope(_ url: String) -> Bool {
    options.scope?.contains(url) ?? true
  }
}

extension ChangedFields<DownloadRecord> {
  /// Whether the change concerns the engine: more than the progress has changed.
  fileprivate var concernEngines: Bool {
    contains(\.state) || contains(\.intent) || contains(\.generation) || contains(\.priority)
      || contains(\.startsImmediately) || contains(\.isHeld) || contains(\.nextRetryAt)
      || contains(\.root)
  }
}
