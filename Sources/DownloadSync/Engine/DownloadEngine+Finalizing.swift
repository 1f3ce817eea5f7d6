internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension DownloadEngine {
  /// Computes the digest of a complete file without holding up the engine.
  func check(_ download: Live) {
    let path = download.layout.partialPath
    let url = download.record.url
    let generation = download.record.generation
    let inbox = inbox
    Task.detached {
      let digest: Result<Digest, PartialFile.Failure>
      do {
        digest = .success(try await blocking { try Digest.ofFile(at: path) })
      } catch {
        digest = .failure(PartialFile.Failure(code: EIO, operation: "reading \(path): \(error)"))
      }
      inbox.post(.digestComputed(url: url, generation: generation, digest))
    }
  }

  /// Goes on with a complete file whose digest is known now.
  func finishChecked(_ url: String, _ digest: Result<Digest, PartialFile.Failure>) async throws {
    guard var download = live[url] else { return }
    switch digest {
    case .success(let digest) where digest.text == download.record.expectedDigest:
      download.record.verifiedDigest = digest.text
      try await finalize([download])
    case .success(let digest):
      live[url] = nil
      let generation = download.record.generation
      // Bytes that are wrong somewhere are of no use for a next try.
      try await commit { tx in
        _ = try tx.update(DownloadRecord.self, url) { record in
          if record.generation == generation { record.rollBack() }
        }
      }
      try await settleFailure(
        download.record,
        DownloadFailure(
          .digestMismatch,
          "the file has the digest \(digest.text), and must have \(download.record.expectedDigest ?? "")"
        ),
        retryAfter: nil
      )
    case .failure(let failure):
      live[url] = nil
      try await settleFailure(download.record, failure.asDownloadFailure, retryAfter: nil)
    }
  }

  /// A file on its way to its name.
  private struct Finished: Sendable {
    var record: DownloadRecord
    var layout: FileLayout
    var entity: Transfer.Entity
    var stamp: FileStamp
  }

  /// Gives complete files their names.
  ///
  /// Two commits serve all of them.
  ///
  /// The order of writes is what a kill at any point is repaired by: sync the bytes, commit
  /// `finalizing` with the stamp, rename without replacing, sync the folders, commit `completed`.
  func finalize(_ downloads: [Live]) async throws {
    let prepared = try await blocking { () -> [(Live, Result<FileStamp, PartialFile.Failure>)] in
      downloads.map { download in
        do throws(PartialFile.Failure) {
          _ = try download.transfer.file.synchronize()
          guard let stamp = download.transfer.file.stamp else {
            throw PartialFile.Failure(code: EIO, operation: "examining the file")
          }
          return (download, .success(stamp))
        } catch {
          return (download, .failure(error))
        }
      }
    }
    var finished: [Finished] = []
    for (download, result) in prepared {
      live[download.record.url] = nil
      switch result {
      case .success(let stamp):
        finished.append(
          Finished(
            record: download.record,
            layout: download.layout,
            entity: download.transfer.entity,
            stamp: stamp
          )
        )
      case .failure(let failure):
        try await settleFailure(
          download.record,
          failure.asDownloadFailure,
          retryAfter: nil
        )
      }
    }
    let logged = try await logFinalizing(finished)
    for file in finished where !logged.contains(where: { $0.record.url == file.record.url }) {
      try await letGo(file.record, file.layout)
    }
    try await commitCompleted(try await place(logged))
  }

  /// Commits what is about to be renamed, and by what it will be known.
  private func logFinalizing(_ finished: [Finished]) async throws -> [Finished] {
    guard !finished.isEmpty else { return [] }
    let moment = now()
    let roots = roots
    return try await commit { tx in
      try finished.compactMap { file -> Finished? in
        guard var record = try tx.get(DownloadRecord.self, file.record.url),
          record.generation == file.record.generation,
          try Reconciliation(of: record, in: roots, task: .doneOK, now: moment)
            .decision.result == .placed
        else { return nil }
        record.state = .finalizing
        record.received = file.stamp.size
        record.expected = file.stamp.size
        record.resolvedBytes = max(record.resolvedBytes, file.stamp.size)
        record.entityTag = file.entity.entityTag
        record.lastModified = file.entity.lastModified
        record.verifiedDigest = file.record.verifiedDigest
        record.stamp = file.stamp
        record.updatedAt = moment
        try tx.upsert(record)
        var file = file
        file.record = record
        // Somebody may have given it another name meanwhile.
        file.layout = try roots.layout(of: record)
        return file
      }
    }
  }

  /// Renames, and makes the names outlast a power cut.
  ///
  /// Returns the records whose file is in place.
  private func place(_ files: [Finished]) async throws -> [DownloadRecord] {
    var placed: [Finished] = []
    for var file in files {
      var outcome = FilePlacement.place(file.layout.partialPath, as: file.layout.finalPath)
      while outcome == .nameTaken {
        if let stamp = file.record.replacedStamp,
          FileStamp(ofFileAt: file.layout.finalPath) == stamp
        {
          // The file of before has stayed up to here. A kill leaves the new one to be placed.
          FilePlacement.remove(file.layout.finalPath)
          outcome = FilePlacement.place(file.layout.partialPath, as: file.layout.finalPath)
          continue
        }
        guard let renamed = try await chooseOtherName(file) else { break }
        file = renamed
        outcome = FilePlacement.place(file.layout.partialPath, as: file.layout.finalPath)
      }
      switch outcome {
      case .placed: placed.append(file)
      case .nameTaken: break
      case .failed(let failure):
        try await settleFailure(file.record, failure.asDownloadFailure, retryAfter: nil)
      }
    }
    let folders = Set(placed.map(\.layout.folderPath))
    try await blocking {
      for folder in folders { try FilePlacement.synchronizeFolder(folder) }
    }
    return placed.map(\.record)
  }

  /// Somebody has put a file under the name: the record gets the next free one.
  private func chooseOtherName(_ file: Finished) async throws -> Finished? {
    let store = store
    let roots = roots
    return try await commit { tx in
      guard var record = try tx.get(DownloadRecord.self, file.record.url),
        record.generation == file.record.generation
      else { return nil }
      try store.reserveName(for: &record, roots, in: &tx)
      try tx.upsert(record)
      var file = file
      file.record = record
      file.layout = try roots.layout(of: record)
      return file
    }
  }

  /// Gives files their names whose rename was logged, or whose name a power cut has lost.
  func redoRenames(_ found: [Reconciliation]) async throws {
    var files: [Finished] = []
    for found in found {
      guard let stamp = found.record.stamp,
        FileStamp(ofFileAt: found.layout.partialPath) == stamp
      else {
        // It is not the file that was checked, so it is checked in its turn.
        try await waitAgain(found.record)
        continue
      }
      let entity = Transfer.Entity(
        total: found.record.expected,
        entityTag: found.record.entityTag,
        lastModified: found.record.lastModified
      )
      files.append(
        Finished(record: found.record, layout: found.layout, entity: entity, stamp: stamp)
      )
    }
    guard !files.isEmpty else { return }
    try await commitCompleted(try await place(files))
  }

  private func waitAgain(_ record: DownloadRecord) async throws {
    let waiting = try await commit { tx -> DownloadRecord? in
      guard var waiting = try tx.get(DownloadRecord.self, record.url), waiting.state == record.state
      else { return nil }
      waiting.state = .waiting
      try tx.upsert(waiting)
      return waiting
    }
    if let waiting { enqueue(waiting) }
  }

  private func commitCompleted(_ records: [DownloadRecord]) async throws {
    guard !records.isEmpty else { return }
    let moment = now()
    let done = try await commit { tx in
      try records.compactMap { placed -> DownloadRecord? in
        // What somebody wants else by now is dealt with when it is followed.
        guard var record = try tx.get(DownloadRecord.self, placed.url),
          record.generation == placed.generation,
          record.intent == .run || record.intent == .hold
        else { return nil }
        record.complete(at: moment)
        try tx.upsert(record)
        return record
      }
    }
    for record in done {
      summary.completed += 1
      log("complete", record)
      emit(.completed(record))
    }
  }
}
