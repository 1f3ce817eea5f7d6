internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Handles the ends of transfers: the file of a complete one is on its way to its final name, any
  /// other one is settled.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func settle(_ ended: [(key: TransferKey, result: TransferResult)]) async throws {
    for ((key, outcome), record) in zip(ended, try records(of: ended.map(\.key))) {
      guard let download = active[key] else { continue }
      // A sink may have discarded bytes after the engine has found that all are written.
      let loss = outcome == .complete ? download.transfer.loss : nil
      let result = (loss ?? outcome).concerning(
        isEnding: download.isEnding,
        hasFinding: download.transfer.hasFinding
      )
      log("end", download.record, Self.endMetadata(result, download.transfer.head))
      guard let record else {
        release(download)
        continue
      }
      // The commit that logs the rename decides about a complete file.
      guard result == .complete, record.awaitsFile else {
        try await settle(download, record, result)
        continue
      }
      let expected = record.expectedDigest ?? download.transfer.entity.digest?.text
      completion.step(.arrived(Completion.File(of: download, expectedDigest: expected)))
    }
  }

  /// Handles a transfer that turned out not to be complete.
  func settle(_ key: TransferKey, _ result: TransferResult) async throws {
    guard let download = active[key] else { return }
    guard let record = try records(of: [key])[0] else { return release(download) }
    try await settle(download, record, result)
  }

  /// Ends a transfer that no longer belongs to its record.
  private func release(_ download: ActiveTransfer) {
    active.remove(download.record.url)
    replaced.append(ReplacedTransfer(record: download.record, layout: download.layout))
  }

  /// Returns the records of transfers, from one snapshot; `nil` for those that were removed,
  /// restarted or moved.
  ///
  /// Blocks for one short read transaction.
  private func records(of keys: [TransferKey]) throws -> [DownloadRecord?] {
    guard !keys.isEmpty else { return [] }
    return try store.objects.read { tx in try keys.map { try tx.record(of: $0) } }
  }

  /// The result of a transfer and its last response, with the URL after redirects, redacted.
  private static func endMetadata(
    _ result: TransferResult,
    _ head: ResponseHead?
  ) -> [String: String] {
    var metadata = ["result": "\(result)"]
    if case .failed(let failure, _) = result { metadata["result"] = failure.code.rawValue }
    metadata["status"] = head.map { "\($0.status)" }
    metadata["url"] = (head?.url).map(Redaction.url)
    return metadata
  }

  /// Commits the received bytes of a transfer that is not complete, and then decides about its
  /// record.
  private func settle(
    _ download: ActiveTransfer,
    _ record: DownloadRecord,
    _ result: TransferResult
  ) async throws {
    if result == .notModified { return try await endRefresh(download) }
    let url = record.url
    var record = record
    if record.awaitsFile, !result.dropsBytes, try await commitProgress(of: download) {
      guard let current = try await current(url), download.transfer.key.matches(current) else {
        return release(download)
      }
      record = current
    }
    let found = inspect(
      record,
      task: ReconcileCase.LiveTask(
        result,
        leavesResumeData: download.transfer.resumeData != nil
      )
    )
    switch found.effects.record {
    case .fail: try await fail(download, result)
    // The record was completed before, and its file is missing.
    case .finalize:
      completion.step(
        .arrived(Completion.File(of: download, expectedDigest: record.expectedDigest))
      )
    case .keep, .redoRename, .complete, .delete:
      active.remove(url)
      if download.isEnding { reportEnd(of: download, record) }
      try await execute(
        [found],
        resumeData: download.transfer.resumeData
      )
    }
  }

  /// Completes a refresh whose finished file is the server's current version.
  private func endRefresh(_ download: ActiveTransfer) async throws {
    let (key, moment) = (download.transfer.key, now())
    active.remove(download.record.url)
    if let failure = try await discardPartial(of: key, download.layout) {
      return try await commit(AttemptEnd(of: download.record, failure.asDownloadFailure))
    }
    let ended = try await commit { tx in try tx.apply(.notModified, to: key, at: moment) }
    guard let record = ended else {
      replaced.append(ReplacedTransfer(record: download.record, layout: download.layout))
      return
    }
    guard record.state == .completed else { return enqueue(record) }
    if options.isOwn(record.url) { summary.unchanged += 1 }
    log("not modified", record)
    dispatcher.emitEnd(
      .unchanged(record),
      DownloadResponse(record: record, head: download.transfer.head)
    )
  }

  /// Reports the end of a transfer that the engine has ended.
  private func reportEnd(of download: ActiveTransfer, _ record: DownloadRecord) {
    // Another download met the full disk, and this one waits with it.
    let isDiskFull =
      record.state == .waiting && !record.isHeld && queue.isFull(download.candidate.volume)
    dispatcher.emit(
      isDiskFull ? .waitingForDiskSpace(record) : .released(url: record.url),
      of: download.record.id
    )
  }

  /// Handles a failed attempt.
  private func fail(_ download: ActiveTransfer, _ result: TransferResult) async throws {
    guard var failure = result.failure else { return }
    active.remove(download.record.url)
    failure = failure.explainingLogin(
      download.transfer.head,
      source: download.record.source,
      headers: download.headers
    )
    .explainingTLS(download.transfer.head, source: download.record.source)
    if result.dropsBytes, download.transfer.damage != nil, download.hasMixedServers {
      trust.limit(download.record.id, to: .equalValidators)
    }
    if !result.dropsBytes {
      if failure.code == .pieceMismatch, download.hasMixedServers {
        trust.limit(download.record.id, to: .oneServer)
      }
      // An empty partial file carries no state.
      if download.transfer.file.fileIdentity?.size == 0 { removePartial(download.layout) }
      failure = failure.attributed(
        toShortage: queue.delaysStarts(at: environment.instant()) || environment.lacksDescriptors()
      )
    }
    var end = AttemptEnd(of: download, result, failure)
    if let copy = download.copy, result.dropsBytes || failure.code == .pieceMismatch {
      end.refusesCopy = true
      equalFiles.refuse(copy.file)
    }
    try await commit(end)
  }

  /// Commits the bytes that arrived before the end, and returns whether there were any.
  ///
  /// Bytes that cannot be synced are not committed: the next attempt fetches them again.
  private func commitProgress(of download: ActiveTransfer) async throws -> Bool {
    let transfer = download.transfer
    guard transfer.needsCheckpoint else { return false }
    switch try await environment.blocking({ Checkpoint.attempt(transfer) }) {
    case .success(let checkpoint):
      try await commit([checkpoint])
      return true
    case .failure(let failure):
      log("sync failed", download.record, ["error": "\(failure)"])
      return false
    }
  }

  /// Handles the ends of transfers that no longer belong to their records.
  ///
  /// The bytes of one are deleted if its record was removed. A record that was moved to another URL
  /// continues from them.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func settleReplaced() async throws {
    while !replaced.isEmpty { try await settle(replaced.removeFirst()) }
  }

  private func settle(_ transfer: ReplacedTransfer) async throws {
    let (download, layout) = (transfer.record, transfer.layout)
    let (owner, successor) = try await store.objects.read { tx in
      (
        try tx.first(DownloadRecord.where { $0.id == download.id }),
        try tx.find(DownloadRecord.self, key: download.url)
      )
    }
    // A record that was moved to another URL continues, so its observers receive no end.
    let isMoved = owner.map { !$0.url.utf8.elementsEqual(download.url.utf8) } ?? false
    dispatcher.emit(.released(url: download.url), of: isMoved ? nil : download.id)
    if owner == nil { removePartial(layout) }
    let records = [owner, successor?.id == owner?.id ? nil : successor].compactMap { $0 }
    try await execute(
      records.filter { isInScope($0) || $0.isToBeDeleted }.map { inspect($0) }
    )
  }
}

/// A transfer that no longer belongs to its record, which was removed, restarted or moved.
struct ReplacedTransfer: Sendable {
  /// The record as it was when the transfer started.
  var record: DownloadRecord
  var layout: FileLayout
}

extension AttemptEnd {
  /// The end of a transfer that is not complete.
  ///
  /// - Parameters:
  ///   - download: The transfer.
  ///   - result: Its result.
  ///   - failure: The failure that the result means for the download.
  fileprivate init(
    of download: ActiveTransfer,
    _ result: TransferResult,
    _ failure: DownloadFailure
  ) {
    self.init(
      of: download.record,
      failure,
      retryAfter: result.retryAfter,
      head: download.transfer.head
    )
    if result.dropsBytes {
      bytes = .restart(from: download.committed)
    } else {
      resumeData = download.resumeDataChange(after: failure)
      // No byte of a file of another size is of use.
      bytes = failure.code == .digestMismatch ? .drop : .keep
    }
  }
}
