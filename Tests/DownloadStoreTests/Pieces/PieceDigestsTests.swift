import Foundation
import TestSupport
import Testing

@testable import DownloadStore

@Suite struct PieceDigestsTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func bytes(_ count: Int, seed: UInt8 = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) &+ seed }
  }

  /// The recorded digests of a file, in pieces of 1,000 bytes.
  private func recorded(_ contents: [UInt8], except skipped: Set<Int> = []) throws -> PieceDigests {
    var pieces = try #require(
      PieceDigests(
        recordingFileOf: Int64(contents.count),
        inPiecesFrom: 1_000,
        recordID: "0123456789abcdef"
      )
    )
    for piece in 0..<pieces.count where !skipped.contains(piece) {
      let range = pieces.range(of: piece)
      var hasher = pieces.hasher
      hasher.update(contents[Int(range.lowerBound)..<Int(range.upperBound)].span)
      pieces.record(hasher.digest, of: piece)
    }
    return pieces
  }

  @Test(
    arguments: [
      (1 << 20 + 1, 2, 1 << 20), (1 << 30, 1024, 1 << 20), (1 << 30 + 1, 513, 1 << 21),
      (5 << 40, 640, 1 << 33),
    ] as [(Int64, Int, Int64)]
  )
  func `a long file has at most 1,024 pieces`(byteCount: Int64, count: Int, length: Int64) throws {
    let pieces = try #require(PieceDigests(recordingFileOf: byteCount, recordID: ""))
    #expect(pieces.count == count)
    #expect(pieces.pieceLength == length)
    #expect(pieces.range(of: count - 1).upperBound == byteCount)
  }

  @Test(arguments: [-1, 0, 1, 1 << 20]) func `a file of one piece has none`(byteCount: Int64) {
    #expect(PieceDigests(recordingFileOf: byteCount, recordID: "") == nil)
  }

  @Test func `the pieces in some ranges are the complete ones`() throws {
    let pieces = try recorded(bytes(3_500))
    func found(_ ranges: Range<Int64>...) -> [Int] { pieces.pieces(in: ByteRanges(ranges)) }
    #expect(found(0..<3_500) == [0, 1, 2, 3])
    #expect(found(0..<3_499) == [0, 1, 2])
    #expect(found(1..<3_000) == [1, 2])
    #expect(found(0..<999) == [])
    #expect(found(500..<1_500, 2_000..<3_000) == [2])
    #expect(found(3_000..<3_500) == [3])
    #expect(found() == [])
  }

  @Test func `a file is compared piece by piece`() throws {
    let contents = bytes(3_500)
    let pieces = try recorded(contents, except: [1])
    var changed = contents
    changed[2_999] ^= 1
    changed.removeLast()
    let path = try makeFile("a", changed)
    let report = try PieceReport(ofFileAt: path, pieces)
    #expect(report.correct == ByteRanges(upTo: 1_000))
    #expect(report.unknown == ByteRanges([1_000..<2_000]))
    #expect(report.damaged == ByteRanges([2_000..<3_500]))
    #expect(throws: FileReadError.self) {
      try PieceReport(ofFileAt: folder.path("missing"), pieces)
    }
  }

  @Test func `required digests are compared, not recorded`() throws {
    let contents = bytes(2_500)
    let digests = try (0..<3).map { piece in
      let part = contents[piece * 1_000..<min(2_500, (piece + 1) * 1_000)]
      return try Digest.ofFile(at: try makeFile("\(piece)", Array(part)), .sha1)
    }
    let required = RequiredPieces(byteCount: 2_500, pieceLength: 1_000, digests: digests)
    var pieces = try #require(PieceDigests(requiring: required, recordID: "a"))
    #expect(pieces.isRequired && pieces.count == 3)
    let before = pieces
    pieces.record([UInt8](repeating: 1, count: 20), of: 0)
    #expect(pieces == before)
    let path = try makeFile("whole", contents)
    #expect(try PieceReport(ofFileAt: path, pieces).correct == ByteRanges(upTo: 2_500))
    #expect(pieces.finding([UInt8](repeating: 1, count: 20), of: 0) == .damaged)
    #expect(pieces.finding([], of: 3) == .unknown)
  }

  @Test func `a required digest of zeros is compared`() throws {
    let zeros = try Digest("sha256:\(String(repeating: "0", count: 64))")
    let required = RequiredPieces(byteCount: 10, pieceLength: 5, digests: [zeros, zeros])
    let pieces = try #require(PieceDigests(requiring: required, recordID: "a"))
    let report = try PieceReport(ofFileAt: try makeFile("zeros", bytes(10)), pieces)
    #expect(report.damaged == ByteRanges(upTo: 10))
    #expect(report.unknown.isEmpty && report.correct.isEmpty)
  }

  @Test func `digests that are not those of all pieces are refused`() throws {
    let digest = try Digest("md5:9e107d9d372bb6826bd81d3542a419d6")
    let other = try Digest("sha1:2fd4e1c67a2d28fced849ee1bb76e7391b93eb12")
    func pieces(_ byteCount: Int64, _ length: Int64, _ digests: [Digest]) -> PieceDigests? {
      PieceDigests(
        requiring: RequiredPieces(byteCount: byteCount, pieceLength: length, digests: digests),
        recordID: ""
      )
    }
    #expect(pieces(10, 5, [digest, digest])?.count == 2)
    #expect(pieces(11, 5, [digest, digest]) == nil)
    #expect(pieces(10, 5, [digest, other]) == nil)
    #expect(pieces(10, 0, [digest]) == nil)
    #expect(pieces(0, 5, []) == nil)
  }

  @Test func `a table that is stored is valid in an import`() throws {
    let id = "0123456789abcdef"
    let digest = DigestHasher(.md5).digest
    for digests in [[], [digest], [digest, digest]] {
      for (byteCount, length): (Int64, Int64) in [
        (10, 5), (10, 10), (1 << 60, 1 << 60), (.max, .max),
      ] {
        let required = RequiredPieces(
          byteCount: byteCount,
          pieceLength: length,
          digests: digests
        )
        let isWhole = digests.isEmpty || digests.count == (byteCount - 1) / length + 1
        let pieces = PieceDigests(requiring: required, recordID: id)
        #expect((pieces != nil) == (isWhole && byteCount <= 1 << 60))
        try pieces?.validate()
      }
    }
    try recorded(bytes(3_500)).validate()
    var changed = try #require(
      PieceDigests(
        requiring: RequiredPieces(byteCount: 10, pieceLength: 10, digests: []),
        recordID: id
      )
    )
    changed.digests = Data([1])
    #expect(throws: RecordStoreError.self) { try changed.validate() }
  }

  @Test func `without digests only the size is required`() throws {
    let required = RequiredPieces(byteCount: 10, pieceLength: 10, digests: [])
    let pieces = try #require(PieceDigests(requiring: required, recordID: "a"))
    #expect(pieces.isRequired && !pieces.requiresDigests && pieces.count == 0)
    #expect(pieces.pieces(in: ByteRanges(upTo: 10)) == [])
    #expect(try recorded(bytes(2_500)).requiresDigests == false)
  }

  @Test func `a stored value that contradicts itself has no pieces`() throws {
    let pieces = try recorded(bytes(2_500))
    var other = pieces
    other.digests.removeLast()
    #expect(other.count == 0 && other.pieces(in: ByteRanges(upTo: 2_500)) == [])
    other = pieces
    other.pieceLength = 0
    #expect(other.count == 0)
    other = pieces
    other.algorithm = "crc32"
    #expect(other.count == 0)
  }

  @Test func `the recorded digest is the XXH64 of the XXH64s of the blocks`() {
    // The XXH64 of "abc" is 44bc2cf5ad770999, as xxhsum prints it.
    var hasher = PieceHasher(nil)
    hasher.update(Array("abc".utf8).span)
    #expect(hasher.digest == [33, 213, 91, 49, 29, 153, 42, 179])
    let once = hasher.digest
    hasher.update(Array("abc".utf8).span)
    #expect(hasher.digest != once)
  }

  private func makeFile(_ name: String, _ contents: [UInt8]) throws -> String {
    let path = folder.path(name)
    try Data(contents).write(to: URL(filePath: path))
    return path
  }
}
