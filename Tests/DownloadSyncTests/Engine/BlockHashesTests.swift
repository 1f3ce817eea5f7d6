import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadStore
@testable import DownloadSync

@Suite struct BlockHashesTests {
  private static let length = Int64(PieceHasher.blockLength)
  /// Three pieces of two and a half blocks; the last one is shorter.
  private static let bytes = (0..<(length * 13 / 2)).map {
    UInt8(truncatingIfNeeded: $0 &* 31 >> 3)
  }

  private let folder: TemporaryFolder
  private let digests: PieceDigests

  init() throws {
    folder = try TemporaryFolder()
    let pieceLength = Self.length * 5 / 2
    digests = try #require(
      PieceDigests(
        recordingFileOf: Int64(Self.bytes.count),
        inPiecesFrom: pieceLength,
        recordID: "a"
      )
    )
    #expect(digests.count == 3)
  }

  private func blocks(_ writes: [Range<Int>]) -> BlockHashes {
    var blocks = BlockHashes(BlockHashes.Layout(digests))
    for write in writes { apply(Self.bytes, write, &blocks) }
    return blocks
  }

  private func apply(_ bytes: [UInt8], _ range: Range<Int>, _ blocks: inout BlockHashes) {
    blocks.apply(
      BlockHashes.Change(
        bytes.span.extracting(range),
        at: Int64(range.lowerBound),
        BlockHashes.Layout(digests)
      )
    )
  }

  /// The number of known blocks of each piece.
  private func counts(_ blocks: BlockHashes) -> [Int] {
    var blocks = blocks
    return (0..<digests.count).map { blocks.take(digests.range(of: $0)).count }
  }

  @Test func `the blocks that a write contains as a whole are known`() {
    let length = Int(Self.length)
    #expect(counts(blocks([0..<Self.bytes.count])) == [3, 3, 2])
    #expect(counts(blocks([0..<length, length..<length * 2])) == [2, 0, 0])
    #expect(counts(blocks([1..<length * 2])) == [1, 0, 0])
    #expect(counts(blocks([length * 2..<length * 4])) == [1, 1, 0])
    #expect(counts(blocks([0..<0, 5..<9])) == [0, 0, 0])
  }

  @Test func `a block that is written again in part is not known any more`() {
    let length = Int(Self.length)
    #expect(counts(blocks([0..<length * 2, 7..<8])) == [1, 0, 0])
  }

  @Test func `blocks that arrive in parts from their start on are known`() {
    let (length, end) = (Int(Self.length), Self.bytes.count)
    for step in [1_000, 4_096, length - 1, length + 1] {
      let writes = stride(from: 0, to: end, by: step).map { $0..<min($0 + step, end) }
      #expect(counts(blocks(writes)) == [3, 3, 2])
    }
    // Two connections, each of which writes its piece in order.
    let piece = length * 5 / 2
    let mixed = stride(from: 0, to: piece, by: 4_096).flatMap { start in
      let stop = min(start + 4_096, piece)
      return [start..<stop, start + piece..<stop + piece]
    }
    #expect(counts(blocks(mixed)) == [3, 3, 0])
    // A gap, and a part that is sent again.
    #expect(counts(blocks([0..<100, 101..<length])) == [0, 0, 0])
    #expect(counts(blocks([0..<100, 50..<length])) == [0, 0, 0])
    #expect(counts(blocks([0..<100, 0..<200, 200..<length])) == [1, 0, 0])
  }

  @Test func `a piece has the same digest with and without known blocks`() throws {
    let path = folder.path("file")
    try Data(Self.bytes).write(to: URL(filePath: path))
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    let length = Int(Self.length)
    let parts = stride(from: 0, to: Self.bytes.count, by: 5_000)
      .map { $0..<min($0 + 5_000, Self.bytes.count) }
    let whole = 0..<Self.bytes.count
    for writes in [[whole], parts, [3..<length * 3, length * 4..<length * 6], []] {
      var blocks = blocks(writes)
      for piece in 0..<digests.count {
        let known = blocks.take(digests.range(of: piece))
        #expect(
          try digests.digest(of: piece, inFile: descriptor, known: known)
            == digests.digest(of: piece, inFile: descriptor)
        )
      }
    }
  }

  @Test func `a known block is not read`() throws {
    let path = folder.path("file")
    try Data(count: Self.bytes.count).write(to: URL(filePath: path))
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var blocks = blocks([0..<Self.bytes.count])
    let digest = try digests.digest(
      of: 0,
      inFile: descriptor,
      known: blocks.take(digests.range(of: 0))
    )
    var hasher = PieceHasher(nil)
    let piece = digests.range(of: 0)
    for start in stride(from: 0, to: Int(piece.upperBound), by: Int(Self.length)) {
      let end = min(start + Int(Self.length), Int(piece.upperBound))
      hasher.update(Self.bytes.span.extracting(start..<end))
    }
    #expect(digest == hasher.digest)
  }

  @Test func `hashes of another division of the file are ignored`() throws {
    var other = digests
    other.pieceLength *= 2
    var blocks = BlockHashes(BlockHashes.Layout(other))
    apply(Self.bytes, 0..<Self.bytes.count, &blocks)
    #expect(counts(blocks) == [0, 0, 0])
  }
}
