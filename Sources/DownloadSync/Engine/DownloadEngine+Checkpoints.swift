internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Syncs every partial file that has grown, and then commits the progress of all in one
  /// transaction.
  ///
  /// The order guarantees that `received` never exceeds the bytes on disk. If a file cannot be
  /// synced, its transfer ends, and its record keeps the progress of the previous checkpoint.
  func checkpoint() async throws {
    let due = active.ordered.filter { $0.transfer.needsCheckpoint && !$0.isEnding }
      .map(\.transfer)
    guard !due.isEmpty else { return }
    let attempts = try await environment.blocking { due.map(Checkpoint.attempt) }
    for (transfer, attempt) in zip(due, attempts) {
      switch attempt {
      case .success(let checkpoint):
        if let result = checkpoint.result { end(transfer, with: result) }
      case .failure(let failure):
        end(transfer, with: .failed(failure.asDownloadFailure, retryAfter: nil))
      }
    }
    let unwanted = try await commit(attempts.compactMap { try? $0.get() })
    // The next attempts compare the pieces that are required by now.
    try await stopTransfers(
      unwanted.map(\.url).filter { active[$0]?.tasks.isEmpty == false },
      areHeld: false
    )
  }

  /// Ends a transfer whose file could not be synced or was changed by another program, or that has
  /// received a damaged piece.
  ///
  /// A transfer without a task gets the same error when its file is finalized.
  private func end(_ transfer: Transfer, with result: TransferResult) {
    guard let download = active[transfer.key] else { return }
    log("checkpoint failed", download.record, ["result": "\(result)"])
    transfer.end(with: result)
    active.noteOutcome(result, of: transfer.key)
    cancelTasks(of: download)
  }

  /// Commits the progress of downloads in one transaction.
  ///
  /// Records that were removed, restarted or moved since are not changed. No byte counts of a file that
  /// has begun to receive another version since its sync.
  ///
  /// - Returns: The transfers of which no byte counts, because other pieces or another size are
  ///   required than they know.
  @discardableResult
  func commit(_ checkpoints: [Checkpoint]) async throws -> [TransferKey] {
    guard !checkpoints.isEmpty else { return [] }
    let moment = now()
    let takesResumeData = takesResumeData
    let unwanted = try await commit { tx in
      var unwanted: [TransferKey] = []
      for checkpoint in checkpoints {
        if let record = try tx.record(of: checkpoint.key),
          try tx.requiredPieces(of: record, unknownTo: checkpoint.pieces) != nil
        {
          unwanted.append(checkpoint.key)
          continue
        }
        let isCurrent = checkpoint.isCurrent
        let digests = isCurrent ? checkpoint.digests : nil
        let record = try tx.update(checkpoint.key) { record in
          // A task that delivers its bytes has used up the resume data that it started from.
          if takesResumeData { record.replaceResumeData(with: nil) }
          if digests != nil { record.hasPieceDigests = true }
          let entity = isCurrent ? checkpoint.entity : Transfer.Entity(of: record)
          record.checkpoint(
            isCurrent ? checkpoint.synced : ByteRanges(),
            damaged: checkpoint.uncounted,
            total: entity.total,
            entityTag: entity.entityTag,
            lastModified: entity.lastModified,
            validatorOrigin: entity.origin,
            file: checkpoint.file,
            at: moment
          )
        }
        if record != nil, let digests { try tx.upsert(digests) }
      }
      return unwanted
    }
    // The bytes that a restart drops are reported with it.
    let kept = checkpoints.filter { $0.result?.dropsBytes != true && !unwanted.contains($0.key) }
    queue.noteCleared(kept.compactMap { active.noteCommitted($0.synced.byteCount, of: $0.key) })
    return unwanted
  }

  /// Commits the received bytes, and returns every running record to the queue.
  func requeueAll() async throws {
    try await checkpoint()
    let left = active.ordered.filter { !$0.isEnding }
      .map { ($0.transfer.key, $0.transfer.resumeData) }
    active.removeAll()
    guard !left.isEmpty else { return }
    let moment = now()
    try await commit { tx in
      for (key, resumeData) in left {
        try tx.apply(.interrupted(resumeData: resumeData), to: key, at: moment)
      }
    }
  }
}
