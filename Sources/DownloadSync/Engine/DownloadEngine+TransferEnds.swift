internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Handles transfers that have ended, except for the complete ones.
  ///
  /// - Returns: The transfers whose files are complete. Those whose digest has to be compared follow
  ///   as `digestComputed`.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func completeTransfers(
    _ ended: [(key: TransferKey, result: TransferResult)]
  ) async throws -> [CompleteTransfer] {
    var complete: [CompleteTransfer] = []
    for ((key, outcome), record) in zip(ended, try records(of: ended.map(\.key))) {
      guard let download = active[key] else { continue }
      let result = Self.result(outcome, of: download)
      log("end", download.record, Self.endMetadata(result, download.transfer.head))
      guard let record else {
        active.remove(key.url)
        try await endReplaced(download.record, download.layout)
        continue
      }
      // The commit that logs the rename decides about a complete file.
      guard result == .complete, record.awaitsFile else {
        try await settle(download, record, result)
        continue
      }
      if let result = try await checkLastPieces(of: download) {
        try await settle(download, record, result)
      } else if let expected = record.expectedDigest ?? download.transfer.entity.digest?.text {
        try await check(download, expected)
      } else {
        complete.append(CompleteTransfer(download: download))
      }
    }
    return complete
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

  /// Returns the result of a transfer, which depends on whether the engine was ending it.
  private static func result(
    _ outcome: TransferResult,
    of download: ActiveTransfer
  ) -> TransferResult {
    switch outcome {
    // An error after the engine ended the transfer is not a failure.
    case _ where download.isEnding: outcome.isFailure ? .cancelled : outcome
    // The system ended the transfer, for example with its session. This counts as a failed attempt,
    // so that the number of retries is limited.
    case .cancelled where !download.transfer.hasFinding:
      .failed(.endedBySystem, retryAfter: nil)
    default: outcome
    }
  }

  /// Commits the received bytes of a transfer that is not complete, and then decides about its
  /// record.
  private func settle(
    _ download: ActiveTransfer,
    _ record: DownloadRecord,
    _ result: TransferResult
  ) async throws {
    let url = record.url
    var record = record
    if record.awaitsFile, !result.dropsBytes, try await commitProgress(of: download) {
      guard let current = try await current(url), download.transfer.key.matches(current) else {
        active.remove(url)
        return try await endReplaced(download.record, download.layout)
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
    case .finalize: try await finalize([CompleteTransfer(download: download)])
    case .keep, .redoRename, .complete, .delete:
      active.remove(url)
      if download.isEnding { dispatcher.emit(.released(url: url), of: download.record.id) }
      try await execute(
        [found],
        resumeData: download.transfer.resumeData
      )
    }
  }

  /// Handles a failed attempt.
  private func fail(_ download: ActiveTransfer, _ result: TransferResult) async throws {
    switch result {
    case .startOver(let failure):
      active.remove(download.record.url)
      try await commitFailure(
        download.record,
        failure,
        retryAfter: nil,
        head: download.transfer.head,
        dropsBytes: true,
        restartsFrom: download.committed
      )
    case .failed(let failure, let retryAfter):
      if failure.code == .pieceMismatch { stopMixingServers(of: download) }
      active.remove(download.record.url)
      // An empty partial file carries no state.
      if download.transfer.file.fileIdentity?.size == 0 {
        removePartial(download.layout)
      }
      let failure = attributed(failure)
      try await commitFailure(
        download.record,
        failure,
        retryAfter: retryAfter,
        head: download.transfer.head,
        resumeData: download.resumeDataChange(after: failure),
        // No byte of a file of another size is of use.
        dropsBytes: failure.code == .digestMismatch
      )
    case .cancelled:
      // The system ended the transfer, or the user did in the system's settings.
      try await fail(download, .failed(.endedBySystem, retryAfter: nil))
    case .complete:
      break
    }
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

  /// Compares the last pieces of a complete file with the required digests, and all pieces of a file
  /// that another program may have changed.
  ///
  /// Comes before the digest of the whole file, which would not tell which bytes to keep.
  ///
  /// - Returns: The result of the transfer if it is not complete; `nil` if all pieces are correct, or
  ///   nothing is known about them.
  private func checkLastPieces(of download: ActiveTransfer) async throws -> TransferResult? {
    let transfer = download.transfer
    let isChanged = transfer.file.interference != nil
    guard isChanged || transfer.pieces?.table.digests.isRequired == true else { return nil }
    switch try await environment.blocking({ Checkpoint.attemptLast(transfer) }) {
    case .success(let checkpoint):
      try await commit([checkpoint])
      if checkpoint.interference != nil { return checkpoint.result }
      if let failure = transfer.sizeFailure { return .failed(failure, retryAfter: nil) }
      // A checkpoint may have discarded a damaged piece after its last byte had arrived.
      if transfer.missing?.isEmpty == false {
        return transfer.damage.map { .failed($0, retryAfter: nil) }
      }
      return isChanged ? try await checkChanged(download) : nil
    case .failure(let failure):
      return .failed(failure.asDownloadFailure, retryAfter: nil)
    }
  }

  /// Compares all pieces of a complete file that another program may have changed in place.
  private func checkChanged(_ download: ActiveTransfer) async throws -> TransferResult? {
    let transfer = download.transfer
    let lost = try await environment.blocking { transfer.recheck(after: .changed) }
    guard let lost, !lost.isEmpty else { return nil }
    guard
      case .success(var checkpoint) = try await environment.blocking({
        Checkpoint.attempt(transfer)
      })
    else { return nil }
    checkpoint.discard(lost)
    try await commit([checkpoint])
    return .failed(PartialFile.Interference.changed.failure, retryAfter: nil)
  }

  /// Commits a failed attempt, and either schedules the next one or fails the download permanently.
  ///
  /// - Parameters:
  ///   - download: The record as it was when the attempt started.
  ///   - failure: Why the attempt failed.
  ///   - retryAfter: The wait that the server asked for.
  ///   - head: The head of the last response, for interceptors.
  ///   - resumeData: The change to the record's resume data.
  ///   - dropsBytes: Whether the bytes on disk are useless.
  ///   - committedBytes: The committed byte count of a transfer whose next attempt, if one is left,
  ///     starts from the first byte without a wait; `nil` for other failures.
  /// - Throws: ``EngineError`` with `diskFull`; `StoreError`.
  func commitFailure(
    _ download: DownloadRecord,
    _ failure: DownloadFailure,
    retryAfter: Duration?,
    head: ResponseHead? = nil,
    resumeData: ResumeDataChange = .none,
    dropsBytes: Bool = false,
    restartsFrom committedBytes: Int64? = nil
  ) async throws {
    guard failure.code != .diskFull else {
      return try await waitForDiskSpace(download, failure, resumeData)
    }
    guard failure.code != .outOfResources else {
      return try await waitForResources(download, failure, resumeData)
    }
    let moment = now()
    let retry = options.retry
    let hooks = options.hooks
    let random = environment.random()
    let committed = try await commit { tx -> (DownloadRecord, DownloadFailure, Duration?)? in
      guard var record = try tx.failing(download) else { return nil }
      let failure = failure.afterProgress(of: record)
      resumeData.apply(to: &record)
      let wait = record.fail(
        failure,
        from: download.source,
        at: moment,
        droppingBytes: dropsBytes,
        marking: hooks
      ) { record in
        if committedBytes != nil, retry.allowsAttempt(afterFailures: record.failedAttempts) {
          return .zero
        }
        return SourceRotation.wait(
          after: failure,
          of: record,
          retry,
          retryAfter: retryAfter,
          random: random
        )
      }
      try tx.upsert(record)
      return (record, failure, wait)
    }
    guard let (record, failure, wait) = committed else {
      return try await endReplaced(download, locations.roots.possibleLayout(of: download))
    }
    log("fail", record, ["code": failure.code.rawValue, "message": failure.message])
    // A file of which no byte counts would only use disk space.
    if dropsBytes { removePartial(try locations.layout(of: record)) }
    if let committedBytes {
      dispatcher.emit(.rolledBack(url: record.url, from: committedBytes), of: record.id)
    }
    var response = DownloadResponse(record: record, head: head, failure: failure)
    if record.state == .paused {
      dispatcher.emitEnd(.released(url: record.url), response)
    } else if let wait {
      response.isRetried = true
      if committedBytes == nil || wait > .zero {
        dispatcher.emitRetry(.retrying(record, failure, wait: wait), response)
      }
      enqueue(record, after: wait)
    } else {
      summary.failed += 1
      dispatcher.emitEnd(.failed(record, failure), response)
    }
  }

  /// Returns a download to the queue, and prevents starts on its volume until it has free space.
  ///
  /// This is neither a user's pause nor a failed attempt.
  private func waitForDiskSpace(
    _ download: DownloadRecord,
    _ failure: DownloadFailure,
    _ resumeData: ResumeDataChange
  ) async throws {
    try await blockVolume(of: download)
    let moment = now()
    let waiting = try await commit { tx -> DownloadRecord? in
      guard var record = try tx.failing(download) else { return nil }
      resumeData.apply(to: &record)
      record.deferAttempt(noting: failure, from: download.source, at: moment)
      try tx.upsert(record)
      return record
    }
    guard let waiting else {
      return try await endReplaced(download, try locations.layout(of: download))
    }
    log("wait for disk space", waiting)
    dispatcher.emit(.waitingForDiskSpace(waiting))
    if waiting.mayStart { enqueue(waiting) }
  }

  /// Returns a download to the queue, and delays all starts, while this machine is short of
  /// descriptors or memory.
  ///
  /// This is neither a user's pause nor a failed attempt.
  private func waitForResources(
    _ download: DownloadRecord,
    _ failure: DownloadFailure,
    _ resumeData: ResumeDataChange
  ) async throws {
    let delay = queue.noteShortage(at: environment.instant(), running: active.count)
    let moment = now()
    let waiting = try await commit { tx -> DownloadRecord? in
      guard var record = try tx.failing(download) else { return nil }
      resumeData.apply(to: &record)
      record.deferAttempt(from: download.source, at: moment)
      try tx.upsert(record)
      return record
    }
    guard let waiting else {
      return try await endReplaced(download, try locations.layout(of: download))
    }
    log("wait for resources", waiting, ["message": failure.message])
    guard waiting.mayStart else {
      return dispatcher.emit(.released(url: waiting.url), of: waiting.id)
    }
    dispatcher.emit(.retrying(waiting, failure, wait: delay))
    enqueue(waiting)
  }

  /// Attributes a failure to a shortage of descriptors if that is its likely cause.
  ///
  /// Transports cannot always tell: libcurl reports a socket that it cannot open as an unreachable
  /// host. Transfers that fail during a shortage are attributed to it even if the end of another
  /// transfer has freed some descriptors.
  private func attributed(_ failure: DownloadFailure) -> DownloadFailure {
    switch failure.code {
    case .cannotConnect, .cannotFindHost, .unknown:
      guard queue.delaysStarts(at: environment.instant()) || environment.lacksDescriptors()
      else { return failure }
      return DownloadFailure(
        .outOfResources,
        "too many open files in this process or system: \(failure.message)"
      )
    default:
      return failure
    }
  }
}

extension DownloadFailure {
  fileprivate static let endedBySystem = Self(
    .connectionLost,
    "the system has ended the transfer"
  )
}

extension DownloadRecord {
  /// Whether the download is to have a file that it does not have yet.
  fileprivate var awaitsFile: Bool {
    !isGivenUp && ![.completed, .cancelled, .removed].contains(state)
  }
}

extension StoreTransaction {
  /// Returns the record of a failed transfer.
  ///
  /// Returns `nil` if the record was cancelled, removed, restarted or completed: a late failure
  /// does not undo that.
  fileprivate func failing(_ download: DownloadRecord) throws -> DownloadRecord? {
    guard let record = try record(of: TransferKey(download)), !record.isGivenUp,
      [.running, .finalizing, .waiting, .failedRetryable].contains(record.state)
    else { return nil }
    return record
  }
}
