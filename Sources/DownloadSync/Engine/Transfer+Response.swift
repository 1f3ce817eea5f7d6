internal import DownloadStore
internal import Foundation
internal import ObjectStore
internal import SystemInterface

// What the response to the first task means for the file.

extension Transfer {
  func receive(_ head: ResponseHead) -> BodyDisposition {
    let requested = state.withLock { state in
      state.head = head
      return state.proof
    }
    if let failure = contradiction(of: head) { return end(.startOver(failure)) }
    if let version = record.earlierVersion, file.written.isEmpty {
      switch RefreshAnswer(head, comparedWith: version, of: record) {
      case .notModified: return end(.notModified)
      case .digestForbids: return end(.failed(RefreshAnswer.forbidden, retryAfter: nil))
      case .newerMissing: return end(.failed(RefreshAnswer.missing, retryAfter: nil))
      case .empty: return end(.failed(RefreshAnswer.noBytes, retryAfter: nil))
      case .other: break
      }
    }
    let proof = requested.proof(for: head, validatorOrigin: validatorOrigin)
    if knowsFile, head.isStrangePage(insteadOf: record.filename, ofSize: entity.total) {
      return end(.failed(ResponseHead.strangePage, retryAfter: nil))
    }
    let received = head
    let head = withoutStoredCoding(head)
    let verdict = ResponseVerdict(
      head,
      offset: offset,
      continues: !file.written.isEmpty,
      expected: entity.total,
      proof: proof,
      now: now()
    )
    // Before anything on disk or in the store changes.
    if verdict.keepsBody, let failure = checks.failure(of: received, for: record) {
      return end(.failed(failure, retryAfter: nil))
    }
    if let failure = sizeLimit.failure(ofFileOf: verdict.fileSize) {
      return end(.failed(failure, retryAfter: nil))
    }
    switch verdict {
    case .write(let start, let end, let total):
      let continues = offset > 0 || isSplit
      if record.earlierVersion != nil, !continues, let problem = begin(head, total) {
        return self.end(problem)
      }
      if continues { noteMix(with: head) }
      adopt(head, total: total, isSameEntity: continues)
      let written = file.written
      state.withLock { state in
        // The other gaps of a file belong to other connections, if these get an answer.
        let last = state.isSplit ? end ?? total ?? .max : .max
        let bytes = written.gaps(in: offset..<max(offset, last))
        // A response without a declared end may not be longer than the file, either.
        let responseEnd = [end, total].compactMap(\.self).min()
        state.claims.open(0, PartClaim(bytes, from: start, to: responseEnd))
      }
      return prepare(head, total: total)
    case .startOver(let total, let failure):
      // The order keeps checkpoints from counting the old bytes; see `Checkpoint.isCurrent`.
      state.withLock { $0.isStartingOver = true }
      if let problem = begin(head, total) {
        state.withLock { $0.isStartingOver = false }
        return end(problem)
      }
      let dropped = file.byteCount
      do {
        try file.removeAll()
      } catch {
        // The store counts no byte of the file any more.
        return end(.failed(error.asDownloadFailure, retryAfter: nil))
      }
      adopt(head, total: total, isSameEntity: false)
      state.withLock { state in
        let all = ByteRanges(CollectionOfOne(0..<Int64.max))
        state.claims.open(0, PartClaim(all, from: 0, to: total))
        state.beginEntity()
      }
      inbox.post(.bytesDropped(key, dropped, failure))
      return prepare(head, total: total)
    case .alreadyComplete:
      return end(.complete)
    case .askWithoutCondition:
      state.withLock { $0.asksAgain = true }
      return end(.cancelled)
    case .askAgainFromZero(let failure):
      return end(.startOver(failure))
    case .fail where usesResumeData && (head.status == 412 || head.status == 416):
      // The resume data, not the download, is at fault: the server no longer has the entity that it
      // continues.
      return end(
        .startOver(
          DownloadFailure(.entityChanged, "the resume data is not usable (status \(head.status))")
        )
      )
    case .fail(let failure, let retryAfter):
      return end(.failed(failure, retryAfter: retryAfter))
    }
  }

  /// Prepares the file for the bytes of a finished file with the required digest, from the first
  /// missing byte on.
  ///
  /// - Parameter total: The size of that file.
  /// - Returns: Whether to copy them.
  func beginCopy(ofSize total: Int64) -> BodyDisposition {
    if let failure = sizeLimit.failure(ofFileOf: total) {
      return end(.failed(failure, retryAfter: nil))
    }
    state.withLock { state in
      state.entity.total = total
      let bytes = ByteRanges(CollectionOfOne(offset..<max(offset, total)))
      state.claims.open(0, PartClaim(bytes, from: offset, to: total))
    }
    return prepareFile(ofSize: total)
  }

  /// Commits that the file receives another version from its first byte; returns the result if it does
  /// not.
  ///
  /// The store must not count bytes or pieces of the old version while the file receives the new one.
  private func begin(_ head: ResponseHead, _ total: Int64?) -> TransferResult? {
    do {
      try rollBack(head, total)
      return nil
    } catch is RecordChanged {
      // The record counts the bytes on disk under its new URL: leave the file alone.
      return .cancelled
    } catch {
      return .failed(Self.failure(ofStore: error), retryAfter: nil)
    }
  }

  /// Whether a server has stated a validator of the file or sent it as no page, also if its bytes were
  /// dropped, or the bytes on disk belong to a file with a required digest, which no other page has.
  private var knowsFile: Bool {
    entity.validator != nil || record.validatorOrigin != nil
      || record.earlierVersion?.isKnownToServer == true
      || (hasRequiredDigest && !file.written.isEmpty)
  }

  /// Why a body that a background session has delivered cannot be the file; `nil` if it can, or for a
  /// body that follows its head.
  private func contradiction(of head: ResponseHead) -> DownloadFailure? {
    guard offset == 0, let byteCount = head.deliveredByteCount else { return nil }
    let (held, total) = state.withLock { ($0.held, $0.entity.total) }
    return EarlierResponse(ofTaskOf: record, held: held, total: total, isAdopted: isAdopted)?
      .contradiction(of: head, byteCount: byteCount)
  }

  /// Notes whether a response does not state the validator that the bytes on disk have.
  ///
  /// One that states none may be of another file, too, if only a digest was to show that.
  func noteMix(with head: ResponseHead) {
    let isOther = entity.validator.map { !$0.isConfirmed(by: head) } ?? false
    if isOther { state.withLock { $0.isMixed = true } }
  }

  /// Updates the entity from the head of a response.
  ///
  /// If the entity is the same as before, header fields that the response omits keep their values.
  private func adopt(_ head: ResponseHead, total: Int64?, isSameEntity: Bool) {
    state.withLock { state in
      let known = isSameEntity ? state.entity : Entity()
      let statesTag = known.entityTag == nil || head.storable("ETag") != nil
      let keepsOrigin = isSameEntity && !(statesTag && head.statesValidator)
      state.entity = Entity(
        total: total,
        entityTag: head.storable("ETag") ?? known.entityTag,
        lastModified: head.storable("Last-Modified") ?? known.lastModified,
        origin: keepsOrigin ? known.origin : head.validatorOrigin(forURLOf: urlOrigin),
        digest: head.statedDigest ?? known.digest
      )
    }
  }

  /// Creates the table of the digests for a file of a size; returns the result if it has another
  /// size than the required pieces.
  private func preparePieces(ofSize total: Int64) -> TransferResult? {
    state.withLock { state in
      if let known = state.pieces?.digests, known.isRequired {
        guard known.byteCount == total else {
          return .failed(Self.failure(ofSize: total, known), retryAfter: nil)
        }
      } else if state.pieces?.digests.byteCount != total {
        state.pieces = PieceDigests(
          recordingFileOf: total,
          inPiecesFrom: pieceLength,
          recordID: key.recordID
        )
        .map { PieceTable($0, committed: ByteRanges()) }
      }
      let recorded = state.pieces?.digests
      state.blocks = recorded.flatMap { digests in
        digests.isRequired || digests.count == 0 ? nil : BlockHashes(BlockHashes.Layout(digests))
      }
      return nil
    }
  }

  private static func failure(ofSize byteCount: Int64, _ digests: PieceDigests) -> DownloadFailure {
    DownloadFailure(
      .digestMismatch,
      "the server's file has \(byteCount) bytes, but \(digests.byteCount) are required"
    )
  }

  /// The failure of a complete file that has another size than its publisher requires.
  var sizeFailure: DownloadFailure? {
    guard let digests = pieces?.table.digests, digests.isRequired, missing?.isEmpty ?? true else {
      return nil
    }
    // Damaged pieces have arrived, too, and may be the last ones.
    let size = file.written.union(damage?.ranges ?? ByteRanges()).end
    return size == digests.byteCount ? nil : Self.failure(ofSize: size, digests)
  }

  /// Prepares the digests, reserves the space of the file, and commits the file name that the
  /// response suggests, before the first byte of the body.
  private func prepare(_ head: ResponseHead, total: Int64?) -> BodyDisposition {
    if let total, prepareFile(ofSize: total) == .cancel { return .cancel }
    guard let name = naming.name(forURL: key.url, head) else { return .proceed }
    do {
      try rename(name)
      return .proceed
    } catch {
      return end(.failed(Self.failure(ofStore: error), retryAfter: nil))
    }
  }

  /// Prepares the digests, and reserves the space of the file.
  private func prepareFile(ofSize total: Int64) -> BodyDisposition {
    if let problem = preparePieces(ofSize: total) { return end(problem) }
    do throws(PartialFile.Failure) {
      try file.reserve(total, preallocation)
      return .proceed
    } catch {
      return end(.failed(error.asDownloadFailure, retryAfter: nil))
    }
  }

  /// The failure of an attempt whose commit failed.
  ///
  /// A full disk of the store fails no attempt: the engine returns the download to the queue, and ends
  /// the run if it cannot commit that either.
  private static func failure(ofStore error: any Error) -> DownloadFailure {
    let isDiskFull = (error as? StoreError)?.code == .diskFull
    return DownloadFailure(isDiskFull ? .diskFull : .fileSystem, "\(error)")
  }
}
