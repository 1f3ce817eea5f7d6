internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Follows what others have written: new records and wishes are reconciled, and transfers whose
  /// record is gone, held or changed by somebody end.
  ///
  /// Costs O(changes) since the last time, unless there were more than the store remembers.
  func applyStoreChanges() async throws {
    // In this order: what is committed between the two counts as not followed yet.
    let now = try store.objects.historyToken()
    let count = try store.objects.changeCount()
    guard externalChanges.haveHappened(changeCount: count) else {
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

  /// Compares everything that is not at rest with what runs and waits.
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

  /// Compares records with what runs and waits.
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
      } else if record.mayStart, queue[record.url] != nil {
        enqueue(record)
      } else {
        if let candidate = queue[record.url] { givenUp.append(candidate) }
        queue.remove(record.url)
        // Where a transfer still ends that is the record's, its end is waited for.
        if DownloadState.active.contains(record.state), !isTransferred(record.id) {
          idle.append(try inspect(record))
        }
      }
    }
    try await execute(idle)
    for candidate in givenUp {
      // As in `discard`.
      let isMoved = records.contains {
        $0.id == candidate.recordID && !$0.url.utf8.elementsEqual(candidate.url.utf8)
      }
      emit(.released(url: candidate.url), of: isMoved ? nil : candidate.recordID)
    }
  }

  /// Compares a live transfer with its record as it is now.
  private func applyChange(_ record: DownloadRecord) async throws {
    let url = record.url
    guard let download = active[url], !download.isEnding else { return }
    // A record of another generation was restarted, or removed and added again.
    guard download.transfer.key.isOf(record) else { return endTransfer(url) }
    let found = try inspect(record, task: .running)
    if found.decision.cancelsTask {
      log("reconcile", record, ["rules": found.decision.ruleNames])
      endTransfer(url)
    } else if found.decision.result == .state(.running), record.state != .running {
      try await commit { tx in
        _ = try tx.update(TransferKey(record), if: { $0.state == record.state }) {
          $0.continueTransfer()
        }
      }
    }
  }

  /// Ends a transfer that nobody wants any more, or that makes room for another one.
  func endTransfer(_ url: String) {
    guard let download = active[url], !download.isEnding else { return }
    active[url]?.isEnding = true
    download.preparation?.cancel()
    if let task = download.task { transport.cancel(task) }
  }

  /// Forgets a transfer that is over, and unlocks its partial file.
  func forget(_ url: String) {
    active[url]?.transfer.file.unlock()
    active[url] = nil
  }

  /// A transfer has ended that is not its record's any more.
  ///
  /// Its bytes go if the record is gone. One whose URL was replaced goes on with them.
  func discard(_ download: DownloadRecord, _ layout: FileLayout) async throws {
    let (owner, successor) = try await store.objects.read { tx in
      (
        try tx.first(DownloadRecord.where { $0.id == download.id }),
        try tx.get(DownloadRecord.self, download.url)
      )
    }
    // A record that only has another URL now goes on: who follows it is not told of an end.
    let isMoved = owner.map { !$0.url.utf8.elementsEqual(download.url.utf8) } ?? false
    emit(.released(url: download.url), of: isMoved ? nil : download.id)
    if owner == nil { placement.removePartial(layout.partialPath) }
    let records = [owner, successor?.id == owner?.id ? nil : successor].compactMap { $0 }
    try await execute(
      records.filter { isInScope($0.url) }.map { try inspect($0) }
    )
  }

  /// The record as it is in the store.
  func current(_ url: String) async throws -> DownloadRecord? {
    try await store.objects.read { tx in try tx.get(DownloadRecord.self, url) }
  }

  func isInScope(_ url: String) -> Bool {
    options.scope?.contains(url) ?? true
  }
}

extension ChangedFields<DownloadRecord> {
  /// Whether more has changed than how far the download is.
  fileprivate var concernEngines: Bool {
    contains(\.state) || contains(\.intent) || contains(\.generation) || contains(\.priority)
      || contains(\.startsImmediately) || contains(\.isHeld) || contains(\.nextRetryAt)
      || contains(\.root)
  }
}
