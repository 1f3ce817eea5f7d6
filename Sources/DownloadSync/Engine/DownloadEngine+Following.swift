internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Follows what others have written: new records and wishes are reconciled, and transfers whose
  /// record is gone, held or changed by somebody end.
  ///
  /// Costs O(changes) since the last time, unless there were more than the store remembers.
  func followOthers() async throws {
    // In this order: what is committed between the two counts as not followed yet.
    let now = try store.objects.historyToken()
    let count = try store.objects.changeCount()
    guard foreignChanges.haveHappened(changeCount: count) else {
      followed = now
      return
    }
    roots = try store.roots()
    volumes = [:]
    switch try store.objects.changes(since: followed, of: DownloadRecord.self) {
    case .changes(let changes):
      followed = changes.token
      let records = changes.updated.filter { $0.fields.concernEngines }.map(\.object)
      try await follow(changes.inserted + records, gone: changes.deleted)
    case .expired:
      try await followAll()
    }
  }

  /// Compares everything that is not at rest with what runs and waits.
  private func followAll() async throws {
    let (active, token) = try await store.objects.read { tx in
      (
        try tx.fetch(DownloadRecord.where { $0.state.isIn(DownloadState.active) }),
        try tx.historyToken()
      )
    }
    followed = token
    var urls = URLTable<Void>()
    for record in active { urls[record.url] = () }
    var resting: [DownloadRecord] = []
    var gone: [String] = []
    for url in queue.urls + live.urls where urls[url] == nil {
      if let record = try await current(url) { resting.append(record) } else { gone.append(url) }
    }
    try await follow(active + resting, gone: gone)
  }

  /// Compares records with what runs and waits.
  func follow(_ records: [DownloadRecord], gone: [String]) async throws {
    var givenUp: [Scheduler.Candidate] = []
    for url in gone {
      if let candidate = queue[url] { givenUp.append(candidate) }
      queue.remove(url)
      release(url)
    }
    var idle: [Reconciliation] = []
    for record in records where isInScope(record.url) {
      if live[record.url] != nil {
        try await followLive(record)
      } else if record.mayStart, queue[record.url] != nil {
        enqueue(record)
      } else {
        if let candidate = queue[record.url] { givenUp.append(candidate) }
        queue.remove(record.url)
        // Where a transfer still ends that is the record's, its end is waited for.
        if DownloadState.active.contains(record.state), !isTransferred(record.id) {
          idle.append(try examine(record))
        }
      }
    }
    try await carryOut(idle)
    for candidate in givenUp {
      // As in `letGo`.
      let isMoved = records.contains {
        $0.id == candidate.recordID && !$0.url.utf8.elementsEqual(candidate.url.utf8)
      }
      emit(.released(url: candidate.url), of: isMoved ? nil : candidate.recordID)
    }
  }

  /// Compares a live transfer with its record as it is now.
  private func followLive(_ record: DownloadRecord) async throws {
    let url = record.url
    guard let download = live[url], !download.isReleased else { return }
    // A record of another generation was begun anew, or removed and added again.
    guard record.isSameGeneration(as: download.record) else { return release(url) }
    let found = try examine(record, task: .running)
    if found.decision.cancelsTask {
      log("reconcile", record, ["rules": found.decision.ruleNames])
      release(url)
    } else if found.decision.result == .state(.running), record.state != .running {
      try await commit { tx in
        _ = try tx.update(DownloadRecord.self, url) { changed in
          if changed.isSameGeneration(as: record), changed.state == record.state {
            changed.state = .running
          }
        }
      }
    }
  }

  /// Ends a transfer that nobody wants any more, or that makes room for another one.
  func release(_ url: String) {
    guard let download = live[url], !download.isReleased else { return }
    live[url]?.isReleased = true
    download.preparation?.cancel()
    if let task = download.task { transport.cancel(task) }
  }

  /// Forgets a transfer that is over, and unlocks its partial file.
  func forget(_ url: String) {
    live[url]?.transfer.file.unlock()
    live[url] = nil
  }

  /// A transfer has ended that is not its record's any more.
  ///
  /// Its bytes go if the record is gone. One whose URL was replaced goes on with them.
  func letGo(_ download: DownloadRecord, _ layout: FileLayout) async throws {
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
    try await carryOut(
      records.filter { isInScope($0.url) }.map { try examine($0) }
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
      || contains(\.startsAtOnce) || contains(\.isHeldByHand) || contains(\.nextRetryAt)
      || contains(\.root)
  }
}
