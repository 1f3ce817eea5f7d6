import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct PieceTableTests {
  private static let digest = [UInt8](repeating: 7, count: 20)

  /// Required digests of three pieces of 10 bytes, all the same.
  private func required() throws -> PieceDigests {
    let digest = try Digest("sha1:" + String(repeating: "07", count: 20))
    let pieces = RequiredPieces(
      byteCount: 30,
      pieceLength: 10,
      digests: [digest, digest, digest]
    )
    return try #require(PieceDigests(requiring: pieces, recordID: "a"))
  }

  private func recorded() throws -> PieceDigests {
    try #require(PieceDigests(recordingFileOf: 25, inPiecesFrom: 10, recordID: "a"))
  }

  @Test func `a piece is due once, when it is complete`() throws {
    var table = PieceTable(try recorded(), committed: ByteRanges(upTo: 10))
    #expect(table.due(in: ByteRanges(upTo: 19)) == [])
    #expect(table.due(in: ByteRanges(upTo: 25)) == [1, 2])
    let isDamaged = table.note([UInt8](repeating: 1, count: 8), of: 1)
    #expect(!isDamaged && table.hasChanged)
    #expect(table.due(in: ByteRanges(upTo: 25)) == [2])
    table.noteStored()
    #expect(!table.hasChanged)
  }

  @Test func `a recorded digest is that of the bytes on disk`() throws {
    var table = PieceTable(try recorded(), committed: ByteRanges())
    let digest = [UInt8](repeating: 9, count: 8)
    _ = table.note(digest, of: 0)
    #expect(table.digests.finding(digest, of: 0) == .correct)
    #expect(table.digests.finding(digest, of: 1) == .unknown)
  }

  @Test func `a damaged piece stays due, so that it is checked when it arrives again`() throws {
    var table = PieceTable(try required(), committed: ByteRanges())
    let isDamaged = table.note([UInt8](repeating: 8, count: 20), of: 1)
    #expect(isDamaged)
    #expect(table.due(in: ByteRanges(upTo: 30)) == [0, 1, 2])
    let isDamagedAgain = table.note(Self.digest, of: 1)
    #expect(!isDamagedAgain)
    #expect(table.due(in: ByteRanges(upTo: 30)) == [0, 2])
    #expect(!table.hasChanged)
  }

  @Test func `a piece that is fetched again must have its recorded digest`() throws {
    var first = PieceTable(try recorded(), committed: ByteRanges())
    _ = first.note([UInt8](repeating: 1, count: 8), of: 0)
    _ = first.note([UInt8](repeating: 2, count: 8), of: 1)
    // The next attempt has lost the second piece.
    var table = PieceTable(first.digests, committed: ByteRanges(upTo: 10))
    #expect(table.awaitsComparison)
    #expect(table.due(in: ByteRanges(upTo: 25)) == [1, 2])
    let isOther = table.note([UInt8](repeating: 3, count: 8), of: 1)
    #expect(isOther && !table.hasChanged)
    #expect(table.digests.finding([UInt8](repeating: 2, count: 8), of: 1) == .correct)
    #expect(table.due(in: ByteRanges(upTo: 25)) == [1, 2])
    let isOtherAgain = table.note([UInt8](repeating: 2, count: 8), of: 1)
    #expect(!isOtherAgain && !table.awaitsComparison)
    // The last piece has no digest yet.
    #expect(table.due(in: ByteRanges(upTo: 25)) == [2])
  }

  @Test(arguments: [true, false])
  func `bytes of a response that contradicts itself prove nothing`(isRequired: Bool) throws {
    var table = PieceTable(try isRequired ? required() : recorded(), committed: ByteRanges())
    let digest = isRequired ? Self.digest : [UInt8](repeating: 1, count: 8)
    for piece in 0..<2 { _ = table.note(digest, of: piece) }
    table.noteStored()
    table.forget(ByteRanges())
    #expect(table.due(in: ByteRanges(upTo: 20)) == [] && !table.hasChanged)
    table.forget(ByteRanges(CollectionOfOne(12..<13)))
    #expect(table.due(in: ByteRanges(upTo: 20)) == [1])
    #expect(table.hasChanged == !isRequired)
    let isOther = table.note([UInt8](repeating: 4, count: digest.count), of: 1)
    #expect(isOther == isRequired)
  }
}
