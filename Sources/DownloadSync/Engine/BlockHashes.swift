internal import DownloadStore
internal import SystemInterface

/// The hashes of blocks as they arrived, until the digests of their pieces are recorded.
///
/// A block is known that was written as a whole, or in parts from its start on. A checkpoint reads only
/// the others from the file, in which another program may have changed them meanwhile: those that two
/// connections have written, and the first one after a resume. Pure.
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

  /// The hashes of the blocks that some bytes contain as a whole, and the bytes of the others.
  struct Change: Sendable, Hashable {
    /// A part of a block.
    fileprivate struct Part: Sendable, Hashable {
      var block: Range<Int64>
      var offset: Int64
      var bytes: [UInt8]
    }

    fileprivate let layout: Layout
    fileprivate var hashes: [Int64: UInt64] = [:]
    /// The blocks that the bytes contain in part: the first and the last one.
    fileprivate var parts: [Part] = []

    /// Hashes bytes that are written at an offset.
    init(_ bytes: Span<UInt8>, at offset: Int64, _ layout: Layout) {
      self.layout = layout
      let end = offset + Int64(bytes.count)
      var start = offset
      while start < end {
        let block = layout.block(at: start)
        let stop = min(block.upperBound, end)
        let part = bytes.extracting(Int(start - offset)..<Int(stop - offset))
        if start == block.lowerBound, stop == block.upperBound {
          hashes[start] = PieceHasher.hash(ofBlock: part)
        } else {
          parts.append(Part(block: block, offset: start, bytes: Array(copying: part)))
        }
        start = block.upperBound
      }
    }
  }

  /// The number of blocks of which a beginning is kept: more than a file has connections.
  private static let maximumBeginnings = 32

  let layout: Layout
  private var hashes: [Int64: UInt64] = [:]
  /// The first bytes of the blocks that are arriving, by the offsets of the blocks.
  private var beginnings: [Int64: [UInt8]] = [:]

  init(_ layout: Layout) {
    self.layout = layout
  }

  /// Notes bytes that were written.
  ///
  /// Does nothing if their hashes belong to another division of the file.
  mutating func apply(_ change: Change) {
    guard change.layout == layout else { return }
    for part in change.parts { append(part) }
    for (start, hash) in change.hashes {
      hashes[start] = hash
      beginnings[start] = nil
    }
  }

  private mutating func append(_ part: Change.Part) {
    let start = part.block.lowerBound
    hashes[start] = nil
    var bytes = beginnings.removeValue(forKey: start) ?? []
    if part.offset == start { bytes = [] }
    // After a gap, or if bytes are sent again, the block is read from the file.
    guard Int64(bytes.count) == part.offset - start else { return }
    bytes += part.bytes
    if bytes.count == part.block.count {
      hashes[start] = PieceHasher.hash(ofBlock: bytes.span)
    } else if beginnings.count < Self.maximumBeginnings {
      beginnings[start] = bytes
    } else {
      // Connections have left them: what still arrives begins anew.
      beginnings = [start: bytes]
    }
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
