internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Deals with the tasks that have ended.
  func settle(_ ended: [(url: String, result: TransferResult)]) async throws {
    var complete: [Live] = []
    for (url, result) in ended {
      guard let download = live[url] else { continue }
      log("end", download.record, ["result": "\(result)"])
      guard let found = try await reconcile(download, result) else {
        live[url] = nil
        try await letGo(url, download.layout)
        continue
      }
      switch found.decision.result {
      case .placed:
        if let expected = found.record.expectedDigest {
          try await check(download, expected)
        } else {
          complete.append(download)
        }
      case .waitingOrFailed:
        try await fail(download, result)
      default:
        live[url] = nil
        if download.isReleased { emit(.released(url: url)) }
        try await carryOut([found], taskHasEnded: true)
      }
    }
    if !complete.isEmpty { try await finalize(complete) }
  }

  /// Decides about a record whose task has ended, after what has arrived is committed.
  ///
  /// `nil` when the record is gone, or is another one by now.
  private func reconcile(
    _ download: Live,
    _ result: TransferResult
  ) async throws -> Reconciliation? {
    let url = download.record.url
    let task = ReconcileCase.LiveTask(result)
    func look() async throws -> Reconciliation? {
      guard let record = try await current(url),
        record.generation == download.record.generation
      else { return nil }
      return try Reconciliation(of: record, in: roots, task: task, now: now())
    }
    let found = try await look()
    // Whole files are synced on their way to their names; of others what will be used is.
    guard let found, task != .doneOK, !found.decision.actions.contains(.deletePartial) else {
      return found
    }
    if case .startOver = result { return found }
    return try await keepProgress(of: download) ? try await look() : found
  }

  /// A transfer has ended that is not its record's any more.
  ///
  /// Its bytes go if the record is gone.
  func letGo(_ url: String, _ layout: FileLayout) async throws {
    emit(.released(url: url))
    guard let record = try await current(url) else {
      return FilePlacement.remove(layout.partialPath)
    }
    try await carryOut([try Reconciliation(of: record, in: roots, now: now())])
  }

  /// An attempt has failed.
  private func fail(_ download: Live, _ result: TransferResult) async throws {
    switch result {
    case .startOver(let failure):
      try await rollBack(download, failure)
    case .failed(let failure, let retryAfter):
      // A file of nothing says nothing; what has begun says where to go on.
      if download.transfer.file.position == 0 {
        FilePlacement.remove(download.layout.partialPath)
      }
      live[download.record.url] = nil
      try await settleFailure(
        download.record,
        failure,
        retryAfter: retryAfter,
        head: download.transfer.head
      )
    case .complete, .cancelled:
      break
    }
  }

  /// Commits the bytes that arrived before the end, and says whether there were any.
  private func keepProgress(of download: Live) async throws -> Bool {
    let transfer = download.transfer
    guard transfer.file.unsynced > 0,
      let synced = try? await blocking({ try transfer.synchronize() })
    else { return false }
    try await commit([
      Checkpoint(
        url: download.record.url,
        generation: download.record.generation,
        synced: synced,
        entity: transfer.entity
      )
    ])
    return true
  }

  /// Drops what is on disk, as the server's answer asks for, and lines the download up again.
  private func rollBack(_ download: Live, _ failure: DownloadFailure) async throws {
    let url = download.record.url
    let generation = download.record.generation
    let moment = now()
    live[url] = nil
    let record = try await commit { tx in
      try tx.update(DownloadRecord.self, url) { record in
        guard record.generation == generation, record.state == .running else { return }
        record.note(failure, url: record.source, at: moment)
        record.rollBack()
        record.failedAttempts += 1
        record.unresolvedStarts = 0
        record.state = .waiting
      }
      return try tx.get(DownloadRecord.self, url)
    }
    emit(.rolledBack(url: url, from: download.committed))
    guard let record else { return }
    guard options.retry.maximumAttempts > record.failedAttempts else {
      return try await settleFailure(
        record,
        failure,
        retryAfter: nil,
        head: download.transfer.head
      )
    }
    enqueue(record)
  }

  /// Commits a failed attempt: another one follows, or none.
  func settleFailure(
    _ download: DownloadRecord,
    _ failure: DownloadFailure,
    retryAfter: Duration?,
    head: ResponseHead? = nil
  ) async throws {
    if failure.code == .diskFull {
      fatal = EngineError(
        .diskFull,
        "the disk that \(download.filename) goes to is full; what is downloaded is kept"
      )
      stop()
    }
    let moment = now()
    let retry = options.retry
    let random = Double.random(in: 0..<1)
    let url = download.url
    let generation = download.generation
    let isFull = failure.code == .diskFull
    let settled = try await commit { tx -> (DownloadRecord, Duration?)? in
      // What somebody wants of the record by now is not undone by a failure that comes late.
      guard var record = try tx.get(DownloadRecord.self, url),
        record.generation == generation,
        [.running, .finalizing, .waiting].contains(record.state)
      else { return nil }
      record.note(failure, url: record.source, at: moment)
      record.unresolvedStarts = 0
      var wait: Duration?
      if isFull {
        // Room is made by people; the next run goes on.
        record.state = .waiting
      } else {
        record.failedAttempts += 1
        wait = retry.wait(
          afterFailures: record.failedAttempts,
          failure.code,
          retryAfter: retryAfter,
          random: random
        )
        if wait == nil, record.hasUntriedSource { wait = .zero }
        record.state = wait == nil ? .failedPermanent : .failedRetryable
        record.nextRetryAt = wait.map { moment.addingTimeInterval($0 / .seconds(1)) }
      }
      try tx.upsert(record)
      return (record, wait)
    }
    guard let (record, wait) = settled else { return emit(.released(url: url)) }
    guard !isFull else { return }
    log("fail", record, ["code": failure.code.rawValue, "message": failure.message])
    var response = DownloadResponse(record: record, head: head, failure: failure)
    if let wait {
      response.isRetried = true
      tellRetry(response, .retrying(record, failure, wait: wait))
      enqueue(record)
    } else {
      summary.failed += 1
      tellEnd(response, .failed(record, failure))
    }
  }
}
