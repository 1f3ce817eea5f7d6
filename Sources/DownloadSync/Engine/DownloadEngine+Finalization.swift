internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Compares the digest of a complete file with the required or stated one, in the background.
  ///
  /// The file is read, because another program may have changed it since its bytes arrived. If the
  /// digest is another one, the pieces of the file are compared with theirs. The inbox receives the
  /// result as `digestComputed`.
  func check(_ download: ActiveTransfer, _ expected: String) async throws {
    let url = download.record.url
    guard let algorithm = (try? Digest(expected))?.algorithm else {
      return try await failCheck(download, "'\(expected)' is not a supported digest")
    }
    active.noteExpectedDigest(expected, of: url)
    environment.startLongWork { [inbox, transfer = download.transfer] in
      let result = Result { () throws(PartialFile.Failure) in
        let (digest, identity) = try transfer.file.digest(algorithm)
        return CheckedDigest(digest: digest, identity: identity)
      }
      var changed = ByteRanges()
      if case .success(let checked) = result, checked.digest.text != expected,
        let digests = transfer.pieces?.table.digests
      {
        // A file that cannot be read is not kept.
        changed = transfer.file.report(digests)?.damaged ?? ByteRanges()
      }
      inbox.post(.digestComputed(transfer.key, result, changed: changed))
    }
  }

  /// Returns a transfer whose digest is correct, and fails any other.
  ///
  /// - Parameters:
  ///   - key: The key of the transfer.
  ///   - digest: The digest of its file.
  ///   - changed: The bytes of the pieces that have changed on disk.
  /// - Returns: The transfer; `nil` if it has failed.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func finishChecked(
    _ key: TransferKey,
    _ digest: Result<CheckedDigest, PartialFile.Failure>,
    _ changed: ByteRanges
  ) async throws -> CompleteTransfer? {
    guard let download = active[key] else { return nil }
    let expected = download.record.expectedDigest ?? ""
    switch digest {
    case .success(let checked) where checked.digest.text == expected:
      return CompleteTransfer(download: download, verified: checked)
    case .success where !changed.isEmpty:
      try await failChanged(download, changed)
    case .success where download.transfer.file.hadInterference:
      // The server is not at fault, and nothing tells which bytes to keep.
      active.remove(key.url)
      try await commitFailure(
        download.record,
        PartialFile.Interference.changed.failure,
        retryAfter: nil,
        head: download.transfer.head,
        dropsBytes: true,
        restartsFrom: download.committed
      )
    case .success(let checked):
      try await failCheck(
        download,
        "the digest of the file is \(checked.digest.text), but \(expected) is required"
      )
    case .failure(let failure):
      active.remove(key.url)
      try await commitFailure(
        download.record,
        failure.asDownloadFailure,
        retryAfter: nil,
        head: download.transfer.head
      )
    }
    return nil
  }

  /// Fails an attempt whose file has changed on disk, and drops only the bytes of the changed pieces.
  ///
  /// The server is not at fault, and the next attempt requests only these bytes.
  private func failChanged(_ download: ActiveTransfer, _ changed: ByteRanges) async throws {
    let transfer = download.transfer
    for range in changed.ranges { transfer.file.discard(range) }
    var failure = DownloadFailure(.pieceMismatch, "the bytes \(changed) have changed on disk")
    switch try await environment.blocking({ Checkpoint.attemptLast(transfer) }) {
    case .success(var checkpoint):
      checkpoint.discard(changed)
      try await commit([checkpoint])
    case .failure(let error):
      failure = error.asDownloadFailure
    }
    active.remove(download.record.url)
    try await commitFailure(download.record, failure, retryAfter: nil, head: transfer.head)
  }

  /// Fails a download whose file has the wrong digest, and drops its bytes.
  private func failCheck(_ download: ActiveTransfer, _ message: String) async throws {
    stopMixingServers(of: download)
    active.remove(download.record.url)
    // No single server is at fault if the bytes of several do not fit together.
    let isMixed = download.hasUsedMirrors || download.transfer.isMixed
    let failure =
      isMixed
      ? DownloadFailure(.entityChanged, "\(message); its ranges came from several servers")
      : DownloadFailure(.digestMismatch, message)
    try await commitFailure(
      download.record,
      failure,
      retryAfter: nil,
      head: download.transfer.head,
      dropsBytes: true,
      restartsFrom: isMixed ? download.committed : nil
    )
  }

  /// Gives complete files their final names, with two commits for all of them.
  ///
  /// ``Finalizer`` describes the order of writes.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func finalize(_ complete: [CompleteTransfer]) async throws {
    try await commitCompleted(try await place(try await synchronize(complete)))
  }

  /// Syncs the bytes of complete transfers, which are no longer active then.
  ///
  /// - Returns: The synced files.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func synchronize(_ complete: [CompleteTransfer]) async throws -> [FinishedFile] {
    let synced = await environment.blocking(forEach: complete) { [finalizer] transfer in
      Result { () throws(PartialFile.Failure) in try finalizer.synchronize(transfer) }
    }
    var finished: [FinishedFile] = []
    for (download, result) in zip(complete.map(\.download), synced) {
      active.remove(download.record.url)
      switch result {
      case .success(let file): finished.append(file)
      case .failure(let failure):
        // A file that was changed after its last check is dropped as a whole.
        let drops = failure.interference != nil
        try await commitFailure(
          download.record,
          failure.asDownloadFailure,
          retryAfter: nil,
          dropsBytes: drops,
          restartsFrom: drops ? download.committed : nil
        )
      }
    }
    return finished
  }

  /// Commits that synced files are to be renamed, and renames them.
  ///
  /// - Returns: The files that are in place, for ``commitCompleted(_:)``.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func place(_ finished: [FinishedFile]) async throws -> [FinishedFile] {
    guard !finished.isEmpty else { return [] }
    let logged = try await logFinalizing(finished)
    for file in finished where !logged.contains(where: { $0.record.url == file.record.url }) {
      try await endReplaced(file.record, file.layout)
    }
    return try await rename(logged)
  }

  /// Commits `finalizing` for files that are about to be renamed, with their identities.
  ///
  /// Decides in the transaction: the digest of a large file takes minutes, and the user may have
  /// given the download up, or another program may have taken its name, in the meantime.
  ///
  /// Returns the files whose records are still to be finalized.
  private func logFinalizing(_ finished: [FinishedFile]) async throws -> [FinishedFile] {
    let moment = now()
    let store = store
    let roots = locations.roots
    return try await commit { tx in
      try finished.compactMap { file -> FinishedFile? in
        guard var record = try tx.record(of: TransferKey(file.record)) else { return nil }
        let effects = Reconciliation(of: record, in: roots, task: .doneOK, now: moment).effects
        guard effects.record == .finalize || effects.record == .redoRename else { return nil }
        if effects.choosesName { try store.reserveName(for: &record, roots, in: &tx) }
        record.finalize(
          file.identity,
          entityTag: file.entity.entityTag,
          lastModified: file.entity.lastModified,
          validatorOrigin: file.entity.origin,
          verifiedDigest: file.verifiedDigest,
          at: moment
        )
        if let digests = file.digests {
          record.hasPieceDigests = true
          try tx.upsert(digests)
        }
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
  private func rename(_ files: [FinishedFile]) async throws -> [FinishedFile] {
    var placed: [FinishedFile] = []
    for var file in files {
      var outcome = finalizer.place(file)
      while outcome == .nameTaken, let renamed = try await chooseOtherName(file) {
        file = renamed
        outcome = finalizer.place(file)
      }
      switch outcome {
      case .placed: placed.append(file)
      // The record has changed since. The engine handles that when it reads the change.
      case .nameTaken: break
      // The bytes are gone, or in a file that this engine must not touch.
      case .replaced:
        try await commitFailure(
          file.record,
          PartialFile.Interference.replaced.failure,
          retryAfter: nil,
          dropsBytes: true,
          restartsFrom: file.identity.size
        )
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

  /// Syncs the folders of files on a background thread, and returns the failures by folder.
  func synchronizeFolders(
    of layouts: [FileLayout]
  ) async throws -> [String: PartialFile.Failure] {
    guard !layouts.isEmpty else { return [:] }
    return try await environment.blocking { [finalizer] in
      finalizer.synchronizeFolders(of: layouts)
    }
  }

  /// Reserves another name for a file, because another file has taken the one it had.
  ///
  /// Returns `nil` if the record has changed since.
  private func chooseOtherName(_ file: FinishedFile) async throws -> FinishedFile? {
    let store = store
    let roots = locations.roots
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
    var files: [FinishedFile] = []
    for found in found {
      if let file = FinishedFile(ofLoggedRename: found.record, found.layout) {
        files.append(file)
      } else {
        // It is not the file that was checked, so the download is queued again.
        try await requeue(found.record)
      }
    }
    guard !files.isEmpty else { return }
    try await commitCompleted(try await rename(files))
  }

  private func requeue(_ record: DownloadRecord) async throws {
    let waiting = try await commit { tx -> DownloadRecord? in
      try tx.update(TransferKey(record), if: { $0.state == record.state }) { $0.awaitAttempt() }
    }
    if let waiting { enqueue(waiting) }
  }

  /// Completes the records of files that are in place, and their folders synced.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `StoreError`.
  func commitCompleted(_ files: [FinishedFile]) async throws {
    guard !files.isEmpty else { return }
    let moment = now()
    let hooks = options.hooks
    noteCompleted(try await commit { tx in try tx.complete(files, marking: hooks, at: moment) })
  }

  /// Counts completed downloads and notifies interceptors and observers.
  func noteCompleted(_ files: [FinishedFile]) {
    for file in files {
      summary.completed += 1
      log("complete", file.record)
      emitCompleted(file.record, head: file.head)
    }
  }

  /// Notifies interceptors and observers that the finished file has its final name.
  func emitCompleted(_ record: DownloadRecord, head: ResponseHead? = nil) {
    let response = DownloadResponse(
      record: record,
      head: head,
      // If the root folder no longer exists, neither does the file.
      filePath: try? locations.layout(of: record).finalPath
    )
    dispatcher.emitEnd(.completed(record), response)
  }
}

extension StoreTransaction {
  /// Completes the records of files that are in place, and their folders synced.
  ///
  /// - Returns: The files with the changed records, without those of downloads that the user has
  ///   given up since: the engine handles these when it reads the change.
  /// - Throws: `StoreError`.
  mutating func complete(
    _ files: [FinishedFile],
    marking hooks: Set<DownloadHook>,
    at moment: Date
  ) throws -> [FinishedFile] {
    try files.compactMap { file -> FinishedFile? in
      let completed = try update(TransferKey(file.record), if: { !$0.isGivenUp }) {
        $0.complete(marking: hooks, at: moment)
      }
      guard let record = completed else { return nil }
      var file = file
      file.record = record
      return file
    }
  }
}
