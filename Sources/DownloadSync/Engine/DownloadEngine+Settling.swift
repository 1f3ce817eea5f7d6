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
      if download.isReleased {
        try await settleReleased(download)
        continue
      }
      log("end", download.record, ["result": "\(result)"])
      switch result {
      case .complete:
        if download.record.expectedDigest == nil {
          complete.append(download)
        } else {
          check(download)
        }
      case .cancelled:
        // Only a stop or a release cancels; a stop is dealt with elsewhere.
        live[url] = nil
        enqueue(download.record)
      case .startOver(let failure):
        try await rollBack(download, failure)
      case .failed(let failure, let retryAfter):
        try await keepProgress(of: download)
        // A file of nothing says nothing; what has begun says where to go on.
        if download.transfer.file.position == 0 {
          FilePlacement.remove(download.layout.partialPath)
        }
        live[url] = nil
        try await settleFailure(download.record, failure, retryAfter: retryAfter)
      }
    }
    if !complete.isEmpty { try await finalize(complete) }
  }

  /// Commits the bytes that arrived before the end.
  private func keepProgress(of download: Live) async throws {
    let transfer = download.transfer
    guard transfer.file.unsynced > 0 else { return }
    let synced = try? await blocking { try transfer.synchronize() }
    guard let synced else { return }
    try await commit([
      Checkpoint(
        url: download.record.url,
        generation: download.record.generation,
        synced: synced,
        entity: transfer.entity
      )
    ])
  }

  /// A transfer that nobody wants has ended.
  ///
  /// Its bytes go if its record is gone.
  private func settleReleased(_ download: Live) async throws {
    let url = download.record.url
    live[url] = nil
    emit(.released(url: url))
    let record = try await store.objects.read { tx in try tx.get(DownloadRecord.self, url) }
    if let record, record.state == .waiting || record.state == .running {
      enqueue(record)
    } else if record == nil || record?.state == .removed || record?.state == .cancelled {
      FilePlacement.remove(download.layout.partialPath)
    }
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
      return try await settleFailure(record, failure, retryAfter: nil)
    }
    enqueue(record)
  }

  /// Commits a failed attempt: another one follows, or none.
  func settleFailure(
    _ download: DownloadRecord,
    _ failure: DownloadFailure,
    retryAfter: Duration?
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
    if let wait {
      emit(.retrying(record, failure, wait: wait))
      enqueue(record)
    } else {
      summary.failed += 1
      emit(.failed(record, failure))
    }
  }
}
