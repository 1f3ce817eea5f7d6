internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
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
      let size = head.flatMap { $0.contentRange?.total ?? $0.contentLength }
      return try await waitForDiskSpace(download, failure, resumeData, size: size)
    }
    guard failure.code != .outOfResources else {
      return try await waitForResources(download, failure, resumeData)
    }
    let moment = now()
    let retry = options.retry
    let hooks = options.hooks
    let random = environment.random()
    let committed = try await commitEnd(of: download, resumeData) { record in
      let failure = failure.afterProgress(of: record)
      let attempt = DownloadRecord.FailedAttempt(
        failure,
        from: download.source,
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
      return (failure, try record.apply(.attemptFailed(attempt), at: moment).wait)
    }
    guard let (record, (failure, wait)) = committed else { return }
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

  /// Commits the end of an attempt that has not completed a download.
  ///
  /// - Returns: The changed record, and the result of `change`; `nil` if the record was cancelled,
  ///   removed, restarted or completed: a late failure does not undo that, and the transfer ends.
  private func commitEnd<Result: Sendable>(
    of download: DownloadRecord,
    _ resumeData: ResumeDataChange,
    _ change: @escaping @Sendable (inout DownloadRecord) throws -> Result
  ) async throws -> (record: DownloadRecord, result: Result)? {
    let committed = try await commit { tx -> (record: DownloadRecord, result: Result)? in
      guard var record = try tx.record(of: TransferKey(download)), record.awaitsAttempt else {
        return nil
      }
      resumeData.apply(to: &record)
      let result = try change(&record)
      try tx.upsert(record)
      return (record, result)
    }
    if committed == nil {
      replaced.append(
        ReplacedTransfer(record: download, layout: locations.roots.possibleLayout(of: download))
      )
    }
    return committed
  }

  /// Returns a download to the queue, and prevents starts on its volume until it has free space.
  ///
  /// This is neither a user's pause nor a failed attempt. `size` is the size of the file as the server
  /// has stated it; a record stores it with its first bytes only.
  func waitForDiskSpace(
    _ download: DownloadRecord,
    _ failure: DownloadFailure,
    _ resumeData: ResumeDataChange = .none,
    size: Int64?
  ) async throws {
    try await blockVolume(of: download, size: size)
    let moment = now()
    let committed = try await commitEnd(of: download, resumeData) { record in
      try record.apply(.attemptDeferred(noting: failure, from: download.source), at: moment)
    }
    guard var waiting = committed?.record else { return }
    log("wait for disk space", waiting)
    dispatcher.emit(.waitingForDiskSpace(waiting))
    waiting.expected = waiting.expected ?? size
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
    let committed = try await commitEnd(of: download, resumeData) { record in
      try record.apply(.attemptDeferred(from: download.source), at: moment)
    }
    guard let waiting = committed?.record else { return }
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
  func attributed(_ failure: DownloadFailure) -> DownloadFailure {
    guard failure.code.traits.contains(.maybeShortage),
      queue.delaysStarts(at: environment.instant()) || environment.lacksDescriptors()
    else { return failure }
    return DownloadFailure(
      .outOfResources,
      "too many open files in this process or system: \(failure.message)"
    )
  }

  /// Fails a download whose root is unknown, and keeps its bytes.
  func failUnplaced(_ record: DownloadRecord) async throws {
    try await commitFailure(
      record,
      DownloadFailure(
        .fileSystem,
        "\(Roots.unknown(record.root)): remove the download and add it again, or import the root"
      ),
      retryAfter: nil
    )
  }

  /// Fails the completion of a record whose folder cannot be synced.
  func failCompletion(
    _ record: DownloadRecord,
    _ failure: PartialFile.Failure
  ) async throws {
    // A paused record is reconciled again when the user resumes it.
    guard record.state.isProceeding else { return }
    try await commitFailure(record, failure.asDownloadFailure, retryAfter: nil)
  }
}
