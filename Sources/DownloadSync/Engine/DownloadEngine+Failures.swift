internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

// The commit and the effects of ``AttemptEnd``, which decides about them.

extension DownloadEngine {
  /// Commits the end of an attempt that has not completed its download, and does what follows from it.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func commit(_ end: AttemptEnd) async throws {
    var end = end
    let download = end.download
    var delay = Duration.zero
    var random = 0.0
    switch end.kind {
    case .failed: random = environment.random()
    case .refusesCopy, .lacksDiskSpace: break
    case .lacksResources:
      delay = queue.noteShortage(at: environment.instant(), running: active.count)
    }
    var settings = AttemptEnd.Settings(
      retry: options.retry,
      hooks: options.hooks(of: download.url),
      random: random,
      moment: now()
    )
    // Only a refresh, which has a generation of its own, returns to a finished file.
    if download.refreshed != nil,
      let stored = try await store.objects.read({ tx in try tx.record(of: TransferKey(download)) })
    {
      let layout = locations.roots.possibleLayout(of: stored)
      settings.named = stored.namedVersion(in: layout)
      if try end.endsRefresh(of: stored, settings) {
        if let failure = try await discardPartial(of: TransferKey(download), layout) {
          log("deletion not synced", stored, ["error": "\(failure)"])
        }
        if stored.hasCompleteNewerVersion {
          end.failure.message += "; the newer version is deleted"
        }
      }
    }
    let committed = try await commit { [end, settings] tx -> AttemptEnd.Committed? in
      guard let stored = try tx.record(of: TransferKey(download)) else { return nil }
      var record = stored
      guard var committed = try end.apply(to: &record, settings) else { return nil }
      committed.record = try tx.store(committed.record, after: stored)
      return committed
    }
    guard let committed else {
      let layout = locations.roots.possibleLayout(of: download)
      return replaced.append(ReplacedTransfer(record: download, layout: layout))
    }
    // The record counts the bytes that have arrived, as its place in the queue does.
    if end.kind == .lacksDiskSpace {
      try await blockVolume(of: committed.record.assuming(size: end.size))
    }
    log(
      "\(end.kind.rawValue)",
      committed.record,
      ["code": committed.failure.code.rawValue, "message": committed.failure.message]
    )
    for effect in end.effects(after: committed) {
      try carryOut(effect, after: committed, of: end, delay: delay)
    }
  }

  /// Performs an effect; `delay` is the time until downloads start again after a shortage.
  private func carryOut(
    _ effect: AttemptEnd.Effect,
    after committed: AttemptEnd.Committed,
    of end: AttemptEnd,
    delay: Duration
  ) throws {
    let (record, failure) = (committed.record, committed.failure)
    var response = DownloadResponse(record: record, head: end.head, failure: failure)
    switch effect {
    case .removePartial: removePartial(try locations.layout(of: record))
    case .reportLoss(let count):
      dispatcher.emit(.rolledBack(url: record.url, from: count, failure), of: record.id)
    case .release: dispatcher.emit(.released(url: record.url), of: record.id)
    case .reportFullDisk: dispatcher.emit(.waitingForDiskSpace(record))
    case .reportShortage: dispatcher.emit(.retrying(record, failure, wait: delay))
    case .reportRetry(let wait):
      response.isRetried = true
      dispatcher.emitRetry(.retrying(record, failure, wait: wait), response)
    case .reportFailure:
      if options.isOwn(record.url) { summary.failed += 1 }
      dispatcher.emitEnd(.failed(record, failure), response)
    case .reportPause: dispatcher.emitEnd(.released(url: record.url), response)
    case .enqueue(let wait, let size):
      enqueue(record.assuming(size: size), after: wait)
    }
  }

  /// Fails a download whose root is unknown, and keeps its bytes.
  func failUnplaced(_ record: DownloadRecord) async throws {
    guard let failure = DownloadFailure(unplaced: record, in: locations.roots) else { return }
    try await commit(AttemptEnd(of: record, failure))
  }

  /// Fails the completion of a record whose folder cannot be synced.
  func failCompletion(_ record: DownloadRecord, _ failure: PartialFile.Failure) async throws {
    // A paused record is reconciled again when the user resumes it.
    guard record.state.isProceeding else { return }
    try await commit(AttemptEnd(of: record, failure.asDownloadFailure))
  }
}

extension DownloadRecord {
  /// The record with a size in bytes, if it does not store one.
  fileprivate func assuming(size: Int64?) -> Self {
    var waiting = self
    waiting.expected = expected ?? size
    return waiting
  }
}
