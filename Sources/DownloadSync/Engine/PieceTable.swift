internal import DownloadStore

/// The digests of the pieces of a transfer's file, and which pieces were compared with them.
///
/// Pure. ``Transfer`` owns it, and reads the file.
struct PieceTable: Sendable {
  private(set) var digests: PieceDigests
  /// Whether the digests differ from those in the store.
  private(set) var hasChanged = false
  /// The pieces that were compared or recorded.
  private var done: Set<Int>

  /// Creates the table of a transfer.
  ///
  /// - Parameters:
  ///   - digests: The digests.
  ///   - committed: The bytes that the record counts, whose pieces were checked before.
  init(_ digests: PieceDigests, committed: ByteRanges) {
    self.digests = digests
    done = Set(digests.pieces(in: committed))
  }

  /// The pieces that have arrived since the last call of ``note(_:of:)`` for them.
  func due(in synced: ByteRanges) -> [Int] {
    digests.pieces(in: synced).filter { !done.contains($0) }
  }

  /// Notes the digest of a piece on disk: compares it with the required one, or records it.
  ///
  /// - Returns: Whether the piece is damaged, so that its bytes must not count.
  mutating func note(_ digest: [UInt8], of piece: Int) -> Bool {
    if digests.isRequired {
      guard digests.finding(digest, of: piece) != .damaged else { return true }
    } else {
      digests.record(digest, of: piece)
      hasChanged = true
    }
    done.insert(piece)
    return false
  }

  /// Notes that the digests are in the store.
  mutating func noteStored() {
    hasChanged = false
  }
}
