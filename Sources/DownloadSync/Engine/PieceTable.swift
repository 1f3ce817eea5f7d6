internal import DownloadStore

/// The digests of the pieces of a transfer's file, and which pieces were compared with them.
///
/// Pure. ``Transfer`` owns it, and reads the file.
struct PieceTable: Sendable {
  private(set) var digests: PieceDigests
  /// Whether the digests differ from those in the store.
  private(set) var hasChanged = false
  /// The pieces that were compared or recorded, and whose bytes were not discarded since.
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

  /// Whether pieces must be compared before the file is complete: required digests, or recorded ones
  /// of pieces that were fetched again.
  var awaitsComparison: Bool {
    digests.isRequired
      || (0..<digests.count).contains {
        !done.contains($0) && digests.finding([], of: $0) != .unknown
      }
  }

  /// Notes the digest of a piece on disk: compares it with the known one, or records it.
  ///
  /// A recorded digest is that of bytes that the server has sent before. If it differs, the piece was
  /// fetched again, and the server has sent another version of the file.
  ///
  /// - Returns: Whether the digest is another one than the known one, so that the bytes of the piece
  ///   must not count.
  mutating func note(_ digest: [UInt8], of piece: Int) -> Bool {
    switch digests.finding(digest, of: piece) {
    case .damaged: return true
    case .correct: break
    case .unknown where digests.isRequired: break
    case .unknown:
      digests.record(digest, of: piece)
      hasChanged = true
    }
    done.insert(piece)
    return false
  }

  /// Forgets what is known about the pieces that have some of these bytes, which will be fetched
  /// again because nothing of their response can be trusted.
  ///
  /// Required digests stay, and are compared again.
  mutating func forget(_ distrusted: ByteRanges) {
    guard !distrusted.isEmpty else { return }
    for piece in done.sorted() {
      let range = ByteRanges(CollectionOfOne(digests.range(of: piece)))
      guard !distrusted.intersection(range).isEmpty else { continue }
      done.remove(piece)
      guard !digests.isRequired else { continue }
      digests.removeDigest(of: piece)
      hasChanged = true
    }
  }

  /// Notes that the digests are in the store.
  mutating func noteStored() {
    hasChanged = false
  }
}
