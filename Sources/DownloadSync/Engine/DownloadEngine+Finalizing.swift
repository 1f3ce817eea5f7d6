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
  /// Compares the digest of a complete file with the expected one, in the background.
  ///
  /// Bytes that were hashed while they arrived are not read again. The inbox receives the digest as
  /// `digestComputed`.
  func check(_ download: ActiveTransfer, _ expected: String) async throws {
    let url = download.record.url
    guard let algorithm = (try? Digest(expected))?.algorithm else {
      return try await failCheck(download, "'\(expected)' is not a supported digest")
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

  /// Finalizes a complete file whose digest is correct, and fails any other.
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
        "the digest of the file is \(digest.text), but \(expected) is required"
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

  /// Fails a download whose file has the wrong digest, and drops its bytes.
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

  /// A complete file that is about to get its final name.
  private struct Finished: Sendable {
    var record: DownloadRecord
    var layout: FileLayout
    var entity: Transfer.Entity
    var fileIdentity: FileIdentity
    var head: ResponseHead?
  }

  /// Gives complete files their final names, with two commits for all of them.
  ///
  /// The order of writes lets the next launch repair a kill at any point: sync the bytes, commit
  /// `finalizing` with the file identity, rename without replacing, sync the folders, commit
  /// `completed`.
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

  /// Commits `finalizing` for files that are about to be renamed, with their identities.
  ///
  /// Decides in the transaction: the digest of a large file takes minutes, and the user may have
  /// given the download up, or another program may have taken its name, in the meantime.
  ///
  /// Returns the files whose records are still to be finalized.
  private func logFinalizing(_ finished: [Finished]) async throws -> [Finished] {
    guard !finished.isEmpty else { return [] }
    let moment = now()
    let store = store
    let roots = roots
    return try await commit { tx in
      try finished.compactMap { file -> Finished? in
        guard var record = try tx.record(of: TransferKey(file.record)) else { return nil }
        let effects = try Reconciliation(of: record, in: roots, task: .doneOK, now: moment).effects
        guard effects.record == .finalize || effects.record == .redoRename else { return nil }
        if effects.choosesName { try store.reserveName(for: &record, roots, in: &tx) }
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
        // The user may have renamed the download since.
        file.layout = try roots.layout(of: record)
        return file
      }
    }
  }

  /// Renames files and syncs their folders, so that the names survive a power failure.
  ///
  /// Returns the files that are in place.
  private func place(_ files: [Finished]) async throws -> [Finished] {
    var placed: [Finished] = []
    for var file in files {
      var outcome = placement.place(file.layout.partialPath, as: file.layout.finalPath)
      while outcome == .nameTaken {
        if let fileIdentity = file.record.replacedFileIdentity,
          FileIdentity(ofFileAt: file.layout.finalPath) == fileIdentity
        {
          // The previous file stays until now. After a kill, the next launch places the new one.
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
      // The record keeps the file identity, so that the next attempt recognizes the file.
      try await commitFailure(file.record, failure.asDownloadFailure, retryAfter: nil)
    }
    return placed.filter { failures[$0.layout.folderPath] == nil }
  }

  /// Syncs the folders of files, so that their names survive a power failure.
  ///
  /// Returns the failures by folder.
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

  /// Reserves another name for a file, because another file has taken the one it had.
  ///
  /// Returns `nil` if the record has changed since.
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

  /// Repeats renames that a kill has prevented or a power failure has undone.
  func redoRenames(_ found: [Reconciliation]) async throws {
    var files: [Finished] = []
    for found in found {
      guard let fileIdentity = found.record.fileIdentity,
        FileIdentity(ofFileAt: found.layout.partialPath) == fileIdentity
      else {
        // It is not the file that was checked, so the download is queued again.
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
        // If the user gave the download up since, the engine handles that when it reads the change.
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
