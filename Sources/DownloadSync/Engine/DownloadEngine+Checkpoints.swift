internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// The progress of one download, as a checkpoint commits it.
  struct Checkpoint: Sendable {
    var key: TransferKey
    var synced: Int64
    var entity: Transfer.Entity
  }

  /// Syncs every partial file that has grown, and then commits the progress of all in one
  /// transaction.
  ///
  /// The order guarantees that `received` never exceeds the bytes on disk. If a file cannot be
  /// synced, its transfer ends, and its record keeps the progress of the previous checkpoint.
  func checkpoint() async throws {
    let due = active.urls.compactMap { active[$0] }
      .filter { $0.transfer.file.unsynced > 0 && !$0.isEnding }
      .map(\.transfer)
    guard !due.isEmpty else { return }
    typealias Attempt = (transfer: Transfer, result: Result<Checkpoint, PartialFile.Failure>)
    let attempts = try await environment.blocking { () -> [Attempt] in
      due.map { transfer in
        (
          transfer,
          Result { () throws(PartialFile.Failure) in
            Checkpoint(
              key: transfer.key,
              synced: try transfer.synchronize(),
              entity: transfer.entity
            )
          }
        )
      }
    }
    var checkpoints: [Checkpoint] = []
    for (transfer, result) in attempts {
      switch result {
      case .success(let checkpoint): checkpoints.append(checkpoint)
      case .failure(let failure): end(transfer, after: failure)
      }
    }
    try await commit(checkpoints)
  }

  /// Ends a transfer whose file could not be synced.
  ///
  /// A transfer without a task gets the same error when its file is finalized.
  private func end(_ transfer: Transfer, after failure: PartialFile.Failure) {
    guard let download = self.transfer(transfer.key) else { return }
    log("sync failed", download.record, ["error": "\(failure)"])
    transfer.fail(failure)
    if let task = download.task { transport.cancel(task) }
  }

  /// Commits the progress of downloads in one transaction.
  ///
  /// Records that were removed, restarted or moved since are not changed.
  func commit(_ checkpoints: [Checkpoint]) async throws {
    guard !checkpoints.isEmpty else { return }
    let moment = now()
    let takesResumeData = takesResumeData
    try await commit { tx in
      for checkpoint in checkpoints {
        try tx.update(checkpoint.key) { record in
          // A task that delivers its bytes has used up the resume data that it started from.
          if takesResumeData { record.replaceResumeData(with: nil) }
          record.checkpoint(
            checkpoint.synced,
            total: checkpoint.entity.total,
            entityTag: checkpoint.entity.entityTag,
            lastModified: checkpoint.entity.lastModified,
            at: moment
          )
        }
      }
    }
    for checkpoint in checkpoints where transfer(checkpoint.key) != nil {
      active[checkpoint.key.url]?.committed = checkpoint.synced
      active[checkpoint.key.url]?.candidate.isSuspect = false
    }
  }

  /// Commits the received bytes, and returns every running record to the queue.
  func requeueAll() async throws {
    try await checkpoint()
    let left = active.urls.compactMap { active[$0] }.filter { !$0.isEnding }
      .map { ($0.transfer.key, $0.transfer.resumeData) }
    for download in active.values where download.task == nil { download.transfer.file.unlock() }
    active.removeAll()
    guard !left.isEmpty else { return }
    let moment = now()
    try await commit { tx in
      for (key, resumeData) in left {
        try tx.update(key, if: { $0.state == .running }) {
          $0.interrupt(hasEnded: true, resumeData: resumeData, at: moment)
        }
      }
    }
  }
}
