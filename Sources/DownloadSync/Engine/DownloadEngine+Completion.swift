internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

// The effects of ``Completion``, which decides about them.

extension DownloadEngine {
  /// Completes all files that can be, and commits that.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func completeFiles() async throws {
    repeat {
      while let effect = completion.next() { try await perform(effect) }
      try await settleReplaced()
    } while completion.isReady
    try await commitCompleted()
  }

  /// Performs an effect, and notes its result.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func perform(_ effect: Completion.Effect) async throws {
    switch effect {
    case .comparePieces(let file):
      completion.step(.piecesCompared(try await comparePieces(of: file)))
    case .computeDigest(let file, let algorithm):
      computeDigest(of: file, algorithm)
    case .synchronize(let files):
      completion.step(.synchronized(await synchronize(files)))
    case .log(let files):
      completion.step(.logged(try await logRenames(of: files)))
    case .rename(let files):
      // A previous version may have to be copied.
      let keepsVersions = files.contains { $0.record.keepVersions != nil }
      let outcomes =
        keepsVersions
        ? try await environment.blocking { [finalizer] in files.map(finalizer.place) }
        : files.map(finalizer.place)
      completion.step(.renamed(outcomes))
    case .reserveNames(let files):
      completion.step(.namesReserved(try await reserveNames(of: files)))
    case .synchronizeFolders(let folders):
      let failures = try await environment.blocking { [finalizer] in finalizer.synchronize(folders)
      }
      completion.step(.foldersSynchronized(failures))
    case .settle(let key, let result):
      try await settle(key, result)
    case .fail(let failed):
      try await fail(failed)
    case .release(let file):
      replaced.append(ReplacedTransfer(record: file.record, layout: file.layout))
    }
  }

  /// Compares the last pieces of a complete file with the known digests, and all pieces of a file
  /// that another program may have changed.
  ///
  /// Comes before the digest of the whole file, which would not tell which bytes to keep.
  ///
  /// - Returns: The result of the transfer if it is not complete; `nil` if all pieces are correct, or
  ///   nothing is known about them.
  private func comparePieces(of file: Completion.File) async throws -> TransferResult? {
    guard let transfer = active[file.key]?.transfer else { return .cancelled }
    switch try await environment.blocking({ Checkpoint.attemptLast(transfer) }) {
    case .success(let checkpoint):
      try await commit([checkpoint])
      if checkpoint.interference != nil { return checkpoint.result }
      if let failure = transfer.sizeFailure { return .failed(failure, retryAfter: nil) }
      // A checkpoint may have discarded a damaged piece after its last byte had arrived.
      if let loss = transfer.loss { return loss }
      return transfer.file.interference == nil ? nil : try await compareChanged(transfer)
    case .failure(let failure):
      return .failed(failure.asDownloadFailure, retryAfter: nil)
    }
  }

  /// Compares all pieces of a complete file that another program may have changed in place.
  private func compareChanged(_ transfer: Transfer) async throws -> TransferResult? {
    let lost = try await environment.blocking { transfer.recheck(after: .changed) }
    guard let lost, !lost.isEmpty else { return nil }
    guard
      case .success(var checkpoint) = try await environment.blocking({
        Checkpoint.attempt(transfer)
      })
    else { return nil }
    checkpoint.discard(lost)
    try await commit([checkpoint])
    return .failed(PartialFile.Interference.changed.failure, retryAfter: nil)
  }

  /// Computes the digest of a complete file beside the loop.
  ///
  /// The file is read, because another program may have changed it since its bytes arrived. If the
  /// digest is another one than expected, the pieces of the file are compared with theirs. The inbox
  /// receives the result as `digestComputed`.
  private func computeDigest(of file: Completion.File, _ algorithm: Digest.Algorithm) {
    guard let transfer = active[file.key]?.transfer else { return }
    environment.startLongWork { [inbox, expected = file.expectedDigest] in
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

  /// Syncs the bytes of complete files at the same time.
  ///
  /// The transfers of the synced ones are over then.
  private func synchronize(
    _ files: [Completion.File]
  ) async -> [Result<FinishedFile, PartialFile.Failure>] {
    let moment = now()
    let complete = files.map { file in
      active[file.key].map { download in
        let date = options.setsServerTime ? download.transfer.entity.lastModified : nil
        return CompleteTransfer(
          download: download,
          verified: file.verified,
          serverTime: date.flatMap { HTTPDate.fileTime($0, now: moment) }
        )
      }
    }
    let synced = await environment.blocking(forEach: complete) { [finalizer] transfer in
      Result { () throws(PartialFile.Failure) in
        guard let transfer else {
          throw PartialFile.Failure(code: ESTALE, operation: "finding the transfer")
        }
        return try finalizer.synchronize(transfer)
      }
    }
    for (file, result) in zip(files, synced) {
      if case .success = result { active.remove(file.key.url) }
    }
    return synced
  }

  /// Commits `finalizing` for files that are about to be renamed, with their identities.
  ///
  /// Decides in the transaction: the digest of a large file takes minutes, and the user may have
  /// given the download up or required another digest, or another program may have taken its name, in
  /// the meantime.
  ///
  /// Returns the files with their changed records; `nil` for those that are not to be finalized any
  /// more.
  private func logRenames(of finished: [FinishedFile]) async throws -> [FinishedFile?] {
    let moment = now()
    let store = store
    let roots = locations.roots
    return try await commit { tx in
      try finished.map { file -> FinishedFile? in
        guard var record = try tx.record(of: TransferKey(file.record)) else { return nil }
        let effects = Reconciliation(of: record, in: roots, task: .doneOK, now: moment).effects
        guard effects.record == .finalize || effects.record == .redoRename else { return nil }
        var file = file
        if let pieces = try tx.requiredPieces(of: record, unknownTo: file.pieces) {
          // Without digests only the size is required.
          guard !pieces.requiresDigests, pieces.byteCount == file.identity.size else { return nil }
          file.digests = nil
        }
        guard record.digestRequired(since: file.verifiedDigest) == nil else {
          // The next attempt begins with the digest.
          record.count(file, at: moment)
          try tx.store(file.digests, for: &record)
          try tx.upsert(record)
          return nil
        }
        if file.continuesFile, try store.takeContinuedName(for: &record, roots, in: tx) {
          // A file of the user that has the same bytes stays.
          if let theirs = record.replacedFileIdentity, theirs.size == file.identity.size {
            file.identity = theirs
          }
        } else if effects.choosesName {
          file.nameFailure = try store.nameFailure(of: record, roots, in: tx)
          if file.nameFailure == nil { try store.reserveName(for: &record, roots, in: &tx) }
        }
        if file.nameFailure == nil { record.logVersion(in: try roots.layout(of: record)) }
        // Also with the failure: the next attempt recognizes the file by its identity.
        try record.apply(
          .fileComplete(
            .init(
              file.identity,
              entityTag: file.entity.entityTag,
              lastModified: file.entity.lastModified,
              validatorOrigin: file.entity.origin,
              verifiedDigest: file.verifiedDigest
            )
          ),
          at: moment
        )
        try tx.store(file.digests, for: &record)
        try tx.upsert(record)
        file.record = record
        // The user may have renamed the download since.
        file.layout = try roots.layout(of: record)
        return file
      }
    }
  }

  /// Reserves other names for files, because other files have taken those that they had.
  ///
  /// Returns `nil` for a file whose record has changed since.
  private func reserveNames(of files: [FinishedFile]) async throws -> [FinishedFile?] {
    let store = store
    let roots = locations.roots
    return try await commit { tx in
      try files.map { file -> FinishedFile? in
        guard var record = try tx.record(of: TransferKey(file.record)) else { return nil }
        var file = file
        file.nameFailure = try store.nameFailure(of: record, roots, in: tx)
        guard file.nameFailure == nil else { return file }
        try store.reserveName(for: &record, roots, in: &tx)
        try tx.upsert(record)
        file.record = record
        file.layout = try roots.layout(of: record)
        return file
      }
    }
  }

  /// Commits the end of a file that cannot be completed.
  private func fail(_ failed: Completion.Failed) async throws {
    let record = failed.record
    let download = active[TransferKey(record)]
    let head = failed.head ?? download?.transfer.head
    if let compared = failed.comparedDigest, let download,
      let current = try await current(record.url), download.transfer.key.matches(current),
      let required = current.digestRequired(since: compared)
    {
      // The user has corrected the digest while the file was read.
      return completion.step(.arrived(Completion.File(of: download, expectedDigest: required)))
    }
    if failed.blamesServers, download?.hasMixedServers == true {
      trust.limit(record.id, to: .equalValidators)
    }
    var failure = failed.failure
    if case .discard(let changed) = failed.bytes, let transfer = download?.transfer {
      failure = try await discard(changed, of: transfer) ?? failure
    }
    if failed.refusesCopy, let copy = download?.copy, download?.transfer.hasEarlierBytes == false {
      equalFiles.refuse(copy.file)
    }
    if download != nil { active.remove(record.url) }
    var end = AttemptEnd(of: record, failure, head: head)
    end.refusesCopy = failed.refusesCopy
    end.comparedDigest = failed.comparedDigest
    switch failed.bytes {
    case .keep, .discard: break
    case .drop: end.bytes = .drop
    case .restart(let lost): end.bytes = .restart(from: lost ?? download?.committed ?? 0)
    }
    try await commit(end)
  }

  /// Discards the bytes of a file that have changed on disk, and commits the others.
  ///
  /// - Returns: The failure to sync them.
  private func discard(
    _ changed: ByteRanges,
    of transfer: Transfer
  ) async throws -> DownloadFailure? {
    for range in changed.ranges { transfer.file.discard(range) }
    switch try await environment.blocking({ Checkpoint.attemptLast(transfer) }) {
    case .success(var checkpoint):
      checkpoint.discard(changed)
      try await commit([checkpoint])
      return nil
    case .failure(let error):
      return error.asDownloadFailure
    }
  }

  /// Completes the records of the files that are in place.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `StoreError`.
  func commitCompleted() async throws {
    let placed = completion.placed
    guard !placed.isEmpty else { return }
    let moment = now()
    let options = options
    noteCompleted(
      try await commit { tx in try tx.complete(placed, options, at: moment) },
      of: placed.count
    )
  }

  /// Counts completed downloads and notifies interceptors and observers.
  ///
  /// - Parameters:
  ///   - files: The files whose records were completed.
  ///   - count: The number of files in place that the commit has handled.
  func noteCompleted(_ files: [FinishedFile], of count: Int) {
    completion.step(.committed(count))
    for file in files {
      if options.isOwn(file.record.url) {
        summary.completed += 1
        if file.isCopy { summary.copied += 1 }
      }
      log("complete", file.record)
      placement.removeExcessVersions(of: file.record, file.layout)
      emitCompleted(file.record, head: file.head)
    }
  }
}

extension StoreTransaction {
  /// Stores new digests of the pieces of a record's file; the caller stores the record.
  ///
  /// - Throws: `StoreError`.
  mutating func store(_ digests: PieceDigests?, for record: inout DownloadRecord) throws {
    guard let digests else { return }
    record.hasPieceDigests = true
    try upsert(digests)
  }

  /// Completes the records of files that are in place, and their folders synced.
  ///
  /// - Returns: The files with the changed records, without those of downloads that the user has
  ///   given up since: the engine handles these when it reads the change.
  /// - Throws: `StoreError`.
  mutating func complete(
    _ files: [FinishedFile],
    _ options: EngineOptions,
    at moment: Date
  ) throws -> [FinishedFile] {
    try files.compactMap { file -> FinishedFile? in
      let key = TransferKey(file.record)
      var versions: [KeptVersion]?
      if file.kept != nil || !file.record.keptVersions.isEmpty {
        versions = try record(of: key)?.versions(adding: file.kept, in: file.layout)
      }
      let completed = try apply(
        .completed(marking: options.hooks(of: file.record.url), keeping: versions),
        to: key,
        at: moment
      )
      guard let record = completed else { return nil }
      var file = file
      file.record = record
      return file
    }
  }
}

extension Completion.File {
  /// The file of a transfer whose bytes have all arrived.
  ///
  /// - Parameters:
  ///   - download: The transfer.
  ///   - expectedDigest: The digest that the file must have; `nil` if none is known.
  init(of download: ActiveTransfer, expectedDigest: String?) {
    let transfer = download.transfer
    self.init(
      key: transfer.key,
      record: download.record,
      expectedDigest: expectedDigest,
      comparesPieces: transfer.file.interference != nil
        || transfer.pieces?.table.awaitsComparison == true,
      isMixed: download.hasMixedServers || transfer.hasEarlierBytes,
      isCopy: download.copy != nil
    )
  }
}
