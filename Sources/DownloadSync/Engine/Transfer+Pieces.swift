internal import DownloadStore

// The digests of pieces: compared with the required ones, or recorded, when a checkpoint has synced
// the pieces.

extension Transfer {
  /// The pieces that a checkpoint has found damaged.
  struct DamagedPieces: Sendable, Hashable {
    /// Their bytes, which do not count any more.
    var ranges: ByteRanges

    /// The failure of the attempt.
    var failure: DownloadFailure {
      DownloadFailure(.pieceMismatch, "the bytes \(ranges) do not have the required digest")
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
  ///   - limit: The number of bytes to read; the rest is left to the next checkpoint. A file that an
  ///     earlier version or another program has begun has many pieces without digests.
  /// - Returns: The digests to commit, if they have changed, and the damaged pieces.
  /// - Throws: The failure to read the file.
  func checkPieces(
    in synced: ByteRanges,
    upTo limit: Int64
  ) throws(PartialFile.Failure) -> (digests: PieceDigests?, damaged: DamagedPieces?) {
    guard let (table, entity) = pieces else { return (nil, nil) }
    var checked = table
    var damaged = ByteRanges()
    var byteCount: Int64 = 0
    for piece in table.due(in: synced) {
      byteCount += Int64(table.digests.range(of: piece).count)
      guard byteCount <= limit else { break }
      let known = takeBlocks(of: table.digests.range(of: piece))
      guard let digest = try file.digest(of: piece, table.digests, known: known) else { continue }
      if checked.note(digest, of: piece) { damaged.insert(table.digests.range(of: piece)) }
    }
    let digests = checked.hasChanged ? checked.digests : nil
    checked.noteStored()
    // The server may have sent another version of the file in the meantime.
    guard replacePieces(with: checked, ofEntity: entity) else { return (nil, nil) }
    guard !damaged.isEmpty else { return (digests, nil) }
    let pieces = DamagedPieces(ranges: damaged)
    note(damage: pieces.failure)
    for range in damaged.ranges { file.discard(range) }
    return (digests, pieces)
  }
}

extension DownloadRecord {
  /// Whether a required digest shows which file the bytes on disk belong to, and not a validator.
  ///
  /// Mirrors state entity tags of their own, so a validator of one says nothing about another. The
  /// digests of the file's pieces, if there are any, may be required ones.
  func isIdentifiedByDigest(with pieces: PieceDigests?) -> Bool {
    !mirrors.isEmpty && (expectedDigest != nil || pieces?.isRequired == true)
  }
}
