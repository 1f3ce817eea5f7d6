internal import DownloadStore
internal import Foundation
internal import ObjectStore

extension DownloadEngine {
  /// What a checkpoint commits for one download.
  struct Checkpoint: Sendable {
    var url: String
    var generation: Int64
    var synced: Int64
    var entity: Transfer.Entity
  }

  /// Syncs every partial file that has grown, then commits how far they are, in one transaction.
  ///
  /// The order is the promise: `received` never exceeds the bytes that are on disk.
  func checkpoint() async throws {
    let due = live.urls.compactMap { live[$0] }
      .filter { $0.transfer.file.unsynced > 0 && !$0.isReleased }
      .map { ($0.record.url, $0.transfer) }
    guard !due.isEmpty else { return }
    let checkpoints = try await environment.blocking { () -> [Checkpoint] in
      due.compactMap { url, transfer in
        // What cannot be synced is not committed; the write that follows will fail and say why.
        guard let synced = try? transfer.synchronize() else { return nil }
        return Checkpoint(
          url: url,
          generation: transfer.generation,
          synced: synced,
          entity: transfer.entity
        )
      }
    }
    try await commit(checkpoints)
  }

  /// Commits how far downloads are.
  ///
  /// Records that somebody removed or changed are left alone.
  func commit(_ checkpoints: [Checkpoint]) async throws {
    guard !checkpoints.isEmpty else { return }
    let moment = now()
    let takesBlobs = takesBlobs
    try await commit { tx in
      for checkpoint in checkpoints {
        try tx.update(DownloadRecord.self, checkpoint.url) { record in
          guard record.generation == checkpoint.generation else { return }
          // A task that hands over its bytes has used up what it went on from.
          if takesBlobs { record.resumeBlob = nil }
          record.checkpoint(checkpoint.synced, checkpoint.entity, at: moment)
        }
      }
    }
    for checkpoint in checkpoints {
      live[checkpoint.url]?.committed = checkpoint.synced
      live[checkpoint.url]?.candidate.isSuspect = false
    }
  }

  /// Commits what has arrived and has every running record wait for the next run.
  func releaseAll() async throws {
    try await checkpoint()
    let urls = live.urls.compactMap { live[$0] }.filter { !$0.isReleased }
      .map { ($0.record.url, $0.record.generation, $0.transfer.resumeData) }
    live.removeAll()
    guard !urls.isEmpty else { return }
    let moment = now()
    try await commit { tx in
      for (url, generation, resumeData) in urls {
        try tx.update(DownloadRecord.self, url) { record in
          guard record.generation == generation, record.state == .running else { return }
          record.state = .waiting
          if let resumeData { record.resumeBlob = resumeData }
          // The transfer ended in an orderly way.
          record.unresolvedStarts = 0
          record.updatedAt = moment
        }
      }
    }
  }
}
