internal import DownloadStore

/// The hashes of blocks that were written as a whole, until the digests of their pieces are recorded.
///
/// So a checkpoint reads only the blocks that arrived in parts. Pure.
struct BlockHashes: Sendable, Hashable {
  /// The division of a file into pieces and blocks.
  struct Layout: Sendable, Hashable {
    private let pieceLength: Int64
    private let byteCount: Int64

    /// Creates the division that the digests of a file's pieces have.
    init(_ digests: PieceDigests) {
      // Bounded: the digests may come from a file, and ends of blocks are sums.
      pieceLength = min(max(1, digests.pieceLength), RecordLimits.fileSize)
      byteCount = min(digests.byteCount, RecordLimits.fileSize)
    }

    /// The block that contains the byte at an offset.
    func block(at offset: Int64) -> Range<Int64> {
      let piece = offset / pieceLength * pieceLength
      let length = Int64(PieceHasher.blockLength)
      let start = piece + (offset - piece) / length * length
      return start..<min(start + length, piece + pieceLength, max(byteCount, offset + 1))
    }
  }

  /// The hashes of the blocks that some bytes contain as a whole.
  struct Change: Sendable, Hashable {
    fileprivate let layout: Layout
    fileprivate var hashes: [Int64: UInt64] = [:]
    /// The blocks that the bytes contain in part.
    fileprivate var partial: [Int64] = []

    /// Hashes bytes that are written at an offset.
    init(_ bytes: Span<UInt8>, at offset: Int64, _ layout: Layout) {
      self.layout = layout
      let end = offset + Int64(bytes.count)
      var start = offset
      while start < end {
        let block = layout.block(at: start)
        if block.lowerBound >= offset, block.upperBound <= end {
          let range = Int(block.lowerBound - offset)..<Int(block.upperBound - offset)
          hashes[block.lowerBound] = PieceHasher.hash(ofBlock: bytes.extracting(range))
        } else {
          partial.append(block.lowerBound)
        }
        start = block.upperBound
      }
    }
  }

  let layout: Layout
  private var hashes: [Int64: UInt64] = [:]

  init(_ layout: Layout) {
    self.layout = layout
  }

  /// Notes bytes that were written.
  ///
  /// Does nothing if their hashes belong to another division of the file.
  mutating func apply(_ change: Change) {
    guard change.layout == layout else { return }
    for start in change.partial { hashes[start] = nil }
    hashes.merge(change.hashes) { _, new in new }
  }

  /// Removes and returns the hashes of the blocks of a piece, by the offsets of the blocks.
  mutating func take(_ piece: Range<Int64>) -> [Int64: UInt64] {
    guard !hashes.isEmpty else { return [:] }
    var taken: [Int64: UInt64] = [:]
    for start in stride(
      from: piece.lowerBound,
      to: piece.upperBound,
      by: PieceHasher.blockLength
    ) {
      taken[start] = hashes.removeValue(forKey: start)
    }
    return taken
  }
}
