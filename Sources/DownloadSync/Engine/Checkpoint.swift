internal import DownloadStore
internal import Foundation

/// The progress of one download, whose bytes are on disk.
struct Checkpoint: Sendable {
  private let transfer: Transfer
  /// The number of the entity to which the synced bytes belong; `nil` if they were being dropped.
  private let entityNumber: Int?
  /// The bytes that are synced.
  var synced: ByteRanges
  var entity: Transfer.Entity
  /// The identity of the file after the bytes were synced; `nil` if it is not known.
  var file: FileIdentity?
  /// The digests of the pieces, if there are new ones.
  var digests: PieceDigests?
  /// The pieces that must not count, although some of their bytes may have been committed before.
  var damaged: Transfer.DamagedPieces?
  /// The bytes that must not count, because the response that had them contradicts itself.
  var distrusted = ByteRanges()

  /// What another program has done to the file; `nil` if nothing that ends the transfer.
  var interference: PartialFile.Interference?
  /// The bytes that are lost, or may be, because of that.
  var lost = ByteRanges()

  var key: TransferKey { transfer.key }

  /// The digests with which the transfer compares the pieces, or which it records.
  var pieces: PieceDigests? { transfer.pieces?.table.digests }

  /// Whether the synced bytes still count: no response has begun another version since.
  ///
  /// Read in the transaction that counts them. A response that begins another version withdraws the
  /// number of the entity, commits that no byte counts, truncates the file, notes the new entity,
  /// and sets the next number. A checkpoint reads the number before its sync, and again here. If it
  /// is the same:
  ///
  /// - The bytes and the entity are of one version: the file is empty when a number is set.
  /// - If it is withdrawn after this, the commit that no byte counts waits for this transaction.
  /// - If it was withdrawn and restored in between, that commit has failed, and the file was not
  ///   truncated.
  var isCurrent: Bool { entityNumber != nil && entityNumber == transfer.entityNumber }

  /// The bytes that must not count, although some of them may have been committed before.
  var uncounted: ByteRanges { distrusted.union(lost).union(damaged?.ranges ?? ByteRanges()) }

  /// The result of the transfer if it cannot continue.
  var result: TransferResult? {
    if let interference {
      // Of a file that has no intact piece, nothing is left to continue.
      return synced.isEmpty
        ? .startOver(interference.failure) : .failed(interference.failure, retryAfter: nil)
    }
    return damaged?.result
  }

  /// Syncs the written bytes of a transfer, and checks the pieces that are complete.
  ///
  /// Blocks until the disk has finished.
  ///
  /// - Parameters:
  ///   - transfer: The transfer.
  ///   - limit: The number of bytes to read for the digests of pieces.
  /// - Throws: The failure of the sync, or to read a piece. The bytes must not be committed then.
  init(
    syncing transfer: Transfer,
    checkingUpTo limit: Int64 = 1 << 30
  ) throws(PartialFile.Failure) {
    self.transfer = transfer
    entityNumber = transfer.entityNumber
    let synced = try transfer.synchronize()
    entity = transfer.entity
    file = transfer.file.fileIdentity
    // Pieces that another program has changed must not be recorded.
    if let found = transfer.file.interference, transfer.endsTransfer(found) {
      interference = found
      lost = transfer.recheck(after: found) ?? ByteRanges()
    } else {
      (digests, damaged) = try transfer.checkPieces(in: synced, upTo: limit)
    }
    // Reading pieces takes time, in which another response may have contradicted itself.
    distrusted = transfer.takeDistrusted()
    self.synced = synced
    for range in uncounted.ranges { self.synced.remove(range) }
  }

  /// Discards bytes that were synced, because they have changed on disk.
  mutating func discard(_ changed: ByteRanges) {
    for range in changed.ranges { synced.remove(range) }
    damaged = Transfer.DamagedPieces(
      ranges: changed.union(damaged?.ranges ?? ByteRanges()),
      isRequired: damaged?.isRequired ?? true
    )
  }

  /// Syncs the written bytes of a transfer, as a value.
  static func attempt(_ transfer: Transfer) -> Result<Self, PartialFile.Failure> {
    Result { () throws(PartialFile.Failure) in try Self(syncing: transfer) }
  }

  /// Syncs the written bytes of a transfer and checks all pieces that are complete, as a value.
  static func attemptLast(_ transfer: Transfer) -> Result<Self, PartialFile.Failure> {
    Result { () throws(PartialFile.Failure) in try Self(syncing: transfer, checkingUpTo: .max) }
  }
}

/// Owns the time of the last checkpoint.
struct CheckpointSchedule {
  private let interval: Duration
  private var last: ContinuousClock.Instant

  init(interval: Duration, last: ContinuousClock.Instant) {
    self.interval = interval
    self.last = last
  }

  /// Whether the interval since the last checkpoint has passed.
  func isDue(at now: ContinuousClock.Instant) -> Bool { last.duration(to: now) >= interval }

  /// Notes that a checkpoint is done.
  mutating func noteDone(at now: ContinuousClock.Instant) { last = now }
}
