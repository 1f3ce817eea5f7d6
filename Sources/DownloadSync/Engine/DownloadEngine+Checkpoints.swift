internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// What a checkpoint commits for one download.
  struct Checkpoint: Sendable {
    var key: TransferKey
    var synced: Int64
    var entity: Transfer.Entity
  }

  /// Syncs every partial file that has grown, then commits how far they are, in one transaction.
  ///
  /// The order is the promise: `received` never exceeds the bytes that are on disk. A transfer whose
  /// file cannot be synced ends, and its record keeps what an earlier checkpoint has committed.
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
  /// One without a live task meets the same error when its file is synced for its name.
  private func end(_ transfer: Transfer, after failure: PartialFile.Failure) {
    guard let download = self.transfer(transfer.key) else { return }
    log("sync failed", download.record, ["error": "\(failure)"])
    transfer.fail(failure)
    if let task = download.task { transport.cancel(task) }
  }

  /// Commits how far downloads are.
  ///
  /// Records that were removed or restarted since are not changed.
  func commit(_ checkpoints: [Checkpoint]) async throws {
    guard !checkpoints.isEmpty else { return }
    let moment = now()
    let takesResumeData = takesResumeData
    try await commit { tx in
      for checkpoint in checkpoints {
        try tx.update(checkpoint.key) { record in
          // A task that hands over its bytes has used up the resume data that it started from.
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

  /// Commits the bytes that have arrived, and returns every running record to the queue.
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
