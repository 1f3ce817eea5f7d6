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
  /// Records that somebody removed or changed are left alone.
  func commit(_ checkpoints: [Checkpoint]) async throws {
    guard !checkpoints.isEmpty else { return }
    let moment = now()
    let takesResumeData = takesResumeData
    try await commit { tx in
      for checkpoint in checkpoints {
        try tx.update(DownloadRecord.self, checkpoint.key.url) { record in
          guard checkpoint.key.isOf(record) else { return }
          // A task that hands over its bytes has used up what it went on from.
          if takesResumeData { record.resumeData = nil }
          record.checkpoint(checkpoint.synced, checkpoint.entity, at: moment)
        }
      }
    }
    for checkpoint in checkpoints where transfer(checkpoint.key) != nil {
      active[checkpoint.key.url]?.committed = checkpoint.synced
      active[checkpoint.key.url]?.candidate.isSuspect = false
    }
  }

  /// Commits what has arrived and has every running record wait for the next run.
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
        try tx.update(DownloadRecord.self, key.url) { record in
          guard key.isOf(record), record.state == .running else { return }
          record.state = .waiting
          if let resumeData { record.resumeData = resumeData }
          // The transfer ended in an orderly way.
          record.unresolvedStarts = 0
          record.updatedAt = moment
        }
      }
    }
  }
}
