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
  /// Compares the digest of a complete file with the one that it must have, without holding up the
  /// engine.
  ///
  /// What was taken while the bytes streamed is not read again.
  func check(_ download: ActiveTransfer, _ expected: String) async throws {
    let url = download.record.url
    guard let algorithm = (try? Digest(expected))?.algorithm else {
      return try await failCheck(download, "'\(expected)' is no digest that can be computed")
    }
    active[url]?.record.expectedDigest = expected
    let digest = download.transfer.digest(algorithm)
    environment.startTask { [inbox, key = download.transfer.key] in
      let result: Result<Digest, PartialFile.Failure>
      do throws(PartialFile.Failure) {
        result = .success(try await digest.digest())
      } catch {
        result = .failure(error)
      }
      inbox.post(.digestComputed(key, result))
    }
  }

  /// Goes on with a complete file whose digest is known now.
  func finishChecked(_ url: String, _ digest: Result<Digest, PartialFile.Failure>) async throws {
    guard var download = active[url] else { return }
    let expected = download.record.expectedDigest ?? ""
    switch digest {
    case .success(let digest) where digest.text == expected:
      download.record.verifiedDigest = digest.text
      try await finalize([download])
    case .success(let digest):
      try await failCheck(
        download,
        "the file has the digest \(digest.text), and must have \(expected)"
      )
    case .failure(let failure):
      forget(url)
      try await commitFailure(
        download.record,
        failure.asDownloadFailure,
        retryAfter: nil,
        head: download.transfer.head
      )
    }
  }

  /// Fails a download whose file does not have its digest; none of its bytes can be used again.
  private func failCheck(_ download: ActiveTransfer, _ message: String) async throws {
    forget(download.record.url)
    try await commitFailure(
      download.record,
      DownloadFailure(.digestMismatch, message),
      retryAfter: nil,
      head: download.transfer.head,
      dropsBytes: true
    )
  }

  /// A file on its way to its name.
  private struct Finished: Sendable {
    var record: DownloadRecord
    var layout: FileLayout
    var entity: Transfer.Entity
    var fileIdentity: FileIdentity
    var head: ResponseHead?
  }

  /// Gives complete files their names.
  ///
  /// Two commits serve all of them.
  ///
  /// The order of writes is what a kill at any point is repaired by: sync the bytes, commit
  /// `finalizing` with the stamp, rename without replacing, sync the folders, commit `completed`.
  func finalize(_ downloads: [ActiveTransfer]) async throws {
    typealias Prepared = (
      download: ActiveTransfer, fileIdentity: Result<FileIdentity, PartialFile.Failure>
    )
    let prepared = try await environment.blocking { () -> [Prepared] in
      downloads.map { download in
        do throws(PartialFile.Failure) {
          _ = try download.transfer.file.synchronize()
          guard let fileIdentity = download.transfer.file.fileIdentity else {
            throw PartialFile.Failure(code: EIO, operation: "examining the file")
          }
          return (download, .success(fileIdentity))
        } catch {
          return (download, .failure(error))
        }
      }
    }
    var finished: [Finished] = []
    for (download, result) in prepared {
      forget(download.record.url)
      switch result {
      case .success(let fileIdentity):
        finished.append(
          Finished(
            record: download.record,
            layout: download.layout,
            entity: download.transfer.entity,
            fileIdentity: fileIdentity,
            head: download.transfer.head
          )
        )
      case .failure(let failure):
        try await commitFailure(
          download.record,
          failure.asDownloadFailure,
          retryAfter: nil
        )
      }
    }
    let logged = try await logFinalizing(finished)
    for file in finished where !logged.contains(where: { $0.record.url == file.record.url }) {
      try await discard(file.record, file.layout)
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
        guard var record = try tx.record(of: TransferKey(file.record)),
          try Reconciliation(of: record, in: roots, task: .doneOK, now: moment)
            .decision.result == .placed
        else { return nil }
        record.finalize(
          file.fileIdentity,
          entityTag: file.entity.entityTag,
          lastModified: file.entity.lastModified,
          verifiedDigest: file.record.verifiedDigest,
          at: moment
        )
        try tx.upsert(record)
        var file = file
        file.record = record
        // The user may have changed the name meanwhile.
        file.layout = try roots.layout(of: record)
        return file
      }
    }
  }

  /// Renames, and makes the names outlast a power cut.
  ///
  /// Returns those whose file is in place.
  private func place(_ files: [Finished]) async throws -> [Finished] {
    var placed: [Finished] = []
    for var file in files {
      var outcome = placement.place(file.layout.partialPath, as: file.layout.finalPath)
      while outcome == .nameTaken {
        if let fileIdentity = file.record.replacedFileIdentity,
          FileIdentity(ofFileAt: file.layout.finalPath) == fileIdentity
        {
          // The file of before has stayed up to here. A kill leaves the new one to be placed.
          placement.remove(file.layout.finalPath)
          outcome = placement.place(file.layout.partialPath, as: file.layout.finalPath)
          continue
        }
        guard let renamed = try await chooseOtherName(file) else { break }
        file = renamed
        outcome = placement.place(file.layout.partialPath, as: file.layout.finalPath)
      }
      switch outcome {
      case .placed: placed.append(file)
      case .nameTaken: break
      case .failed(let failure):
        try await commitFailure(file.record, failure.asDownloadFailure, retryAfter: nil)
      }
    }
    let failures = try await synchronizeFolders(of: placed.map(\.layout))
    for file in placed {
      guard let failure = failures[file.layout.folderPath] else { continue }
      // The file is known for ours when somebody resumes it.
      try await commitFailure(file.record, failure.asDownloadFailure, retryAfter: nil)
    }
    return placed.filter { failures[$0.layout.folderPath] == nil }
  }

  /// Makes the names of files outlast a power cut; returns the folders that cannot be synced.
  func synchronizeFolders(
    of layouts: [FileLayout]
  ) async throws -> [String: PartialFile.Failure] {
    let folders = Set(layouts.map(\.folderPath))
    guard !folders.isEmpty else { return [:] }
    return try await environment.blocking { [placement] in
      var failures: [String: PartialFile.Failure] = [:]
      for folder in folders.sorted() {
        do throws(PartialFile.Failure) {
          try placement.synchronizeFolder(folder)
        } catch {
          failures[folder] = error
        }
      }
      return failures
    }
  }

  /// Somebody has put a file under the name: the record gets the next free one.
  private func chooseOtherName(_ file: Finished) async throws -> Finished? {
    let store = store
    let roots = roots
    return try await commit { tx in
      let renamed = try tx.record(of: TransferKey(file.record))
      guard var record = renamed else { return nil }
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
      guard let fileIdentity = found.record.fileIdentity,
        FileIdentity(ofFileAt: found.layout.partialPath) == fileIdentity
      else {
        // It is not the file that was checked, so it is checked in its turn.
        try await requeue(found.record)
        continue
      }
      let entity = Transfer.Entity(
        total: found.record.expected,
        entityTag: found.record.entityTag,
        lastModified: found.record.lastModified
      )
      files.append(
        Finished(
          record: found.record,
          layout: found.layout,
          entity: entity,
          fileIdentity: fileIdentity
        )
      )
    }
    guard !files.isEmpty else { return }
    try await commitCompleted(try await place(files))
  }

  private func requeue(_ record: DownloadRecord) async throws {
    let waiting = try await commit { tx -> DownloadRecord? in
      try tx.update(TransferKey(record), if: { $0.state == record.state }) { $0.awaitAttempt() }
    }
    if let waiting { enqueue(waiting) }
  }

  private func commitCompleted(_ files: [Finished]) async throws {
    guard !files.isEmpty else { return }
    let moment = now()
    let done = try await commit { tx in
      try files.compactMap { file -> Finished? in
        // A command that was written meanwhile is carried out when the engine reads the change.
        let completed = try tx.update(TransferKey(file.record), if: { !$0.isGivenUp }) {
          $0.complete(at: moment)
        }
        guard let record = completed else { return nil }
        var file = file
        file.record = record
        return file
      }
    }
    for file in done {
      summary.completed += 1
      log("complete", file.record)
      notifyCompleted(file.record, head: file.head)
    }
  }
}
