internal import DownloadStore

// The digests of pieces: compared with the required ones, or recorded, when a checkpoint has synced
// the pieces.

extension Transfer {
  /// The pieces that have arrived with other digests than known.
  struct DamagedPieces: Sendable, Hashable {
    /// Their bytes, which do not count any more.
    var ranges: ByteRanges
    /// Whether the publisher requires the digests; otherwise the engine has recorded them.
    var isRequired: Bool

    /// The result of the transfer.
    ///
    /// With other bytes than the server sent before, its file is another version, of which the file
    /// on disk has no byte for certain.
    var result: TransferResult {
      isRequired
        ? .failed(
          DownloadFailure(.pieceMismatch, "the bytes \(ranges) do not have the required digest"),
          retryAfter: nil
        )
        : .startOver(
          DownloadFailure(
            .entityChanged,
            "the server has sent other bytes \(ranges) than before: its file has changed"
          )
        )
    }
  }

  /// Compares or records the digests of pieces that are synced and were not checked yet.
  ///
  /// Blocks while the pieces are read, usually from the page cache. Of pieces whose digests are
  /// recorded, only blocks that did not arrive as a whole are read. The bytes of damaged pieces are
  /// discarded.
  ///
  /// - Parameters:
  ///   - synced: The bytes that are synced.
  ///   - limit: The number of bytes to read; the rest is left to the next checkpoint. A file that
  ///     another program has begun has many pieces without digests.
  /// - Returns: The digests to commit, if they have changed, and the damaged pieces.
  /// - Throws: The failure to read the file.
  func checkPieces(
    in synced: ByteRanges,
    upTo limit: Int64
  ) throws(PartialFile.Failure) -> (digests: PieceDigests?, damaged: DamagedPieces?) {
    guard let (table, entity) = pieces else { return (nil, nil) }
    var checked = table
    checked.forget(takeUnrecorded())
    var damaged = ByteRanges()
    var byteCount: Int64 = 0
    for piece in checked.due(in: synced) {
      byteCount += Int64(table.digests.range(of: piece).count)
      guard byteCount <= limit else { break }
      let known = takeBlocks(of: table.digests.range(of: piece))
      guard let digest = try file.digest(of: piece, table.digests, known: known) else { continue }
      if checked.note(digest, of: piece) { damaged.insert(table.digests.range(of: piece)) }
    }
    return note(checked, damaged: damaged, ofEntity: entity)
  }

  /// Takes note of checked pieces, and discards the bytes of the damaged ones.
  ///
  /// - Parameters:
  ///   - table: The digests after the check.
  ///   - damaged: The bytes of the damaged pieces.
  ///   - entity: The number of the entity to which the pieces belong.
  /// - Returns: The digests to commit, if they have changed, and the damaged pieces; nothing if the
  ///   server has sent another version of the file in the meantime.
  func note(
    _ table: PieceTable,
    damaged: ByteRanges,
    ofEntity entity: Int
  ) -> (digests: PieceDigests?, damaged: DamagedPieces?) {
    var checked = table
    let digests = checked.hasChanged ? checked.digests : nil
    checked.noteStored()
    guard replacePieces(with: checked, ofEntity: entity) else { return (nil, nil) }
    guard !damaged.isEmpty else { return (digests, nil) }
    let pieces = DamagedPieces(ranges: damaged, isRequired: checked.digests.isRequired)
    note(damage: pieces)
    for range in damaged.ranges { file.discard(range) }
    return (digests, pieces)
  }

  /// Whether a transfer cannot go on with the file that another program has changed.
  ///
  /// A file that is longer may have been truncated before, and only a digest shows that it was not.
  /// Its time alone says nothing: file systems over a network change it by themselves.
  func endsTransfer(_ interference: PartialFile.Interference) -> Bool {
    interference > .changed
      || file.isExtended && pieces == nil && record.expectedDigest == nil
  }

  /// Compares the file with the digests of its pieces, after another program has changed it.
  ///
  /// Blocks while the file is read. The bytes of all pieces but the correct ones are discarded: nothing
  /// shows that they are intact.
  ///
  /// - Returns: The discarded bytes; `nil` if all are intact, or if there are no digests and the whole
  ///   file may be intact.
  func recheck(after interference: PartialFile.Interference) -> ByteRanges? {
    let all = file.written
    let digests = pieces?.table.digests
    if digests == nil, !endsTransfer(interference) { return nil }
    var kept = ByteRanges()
    if interference != .replaced, let digests, let report = file.report(digests) {
      kept = interference == .changed ? report.correct.union(report.unknown) : report.correct
    }
    var lost = ByteRanges()
    for range in all.ranges { lost = lost.union(kept.gaps(in: range)) }
    guard !lost.isEmpty else {
      file.noteVerified()
      return nil
    }
    for range in lost.ranges { file.discard(range) }
    return lost
  }
}
