#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PieceDigests {
  /// What the digest of a piece says about its bytes.
  package enum Finding: Sendable, Hashable {
    /// They have the digest.
    case correct
    /// They have another digest.
    case damaged
    /// The piece has no digest.
    case unknown
  }

  /// The algorithm of the digests that the engine records; see ``PieceHasher``.
  ///
  /// It detects damage by a disk, a file system or another program, and costs less than reading the
  /// bytes. It proves nothing about the bytes that a server sends first, but bytes that are fetched
  /// again must have it.
  static let recordedAlgorithm = "xxh64"

  /// The name of the algorithm of a table that only requires the size of the file.
  private static let noAlgorithm = "size"

  /// The largest number of pieces whose digests are recorded.
  package static let recordedLimit: Int64 = 1024
  /// The shortest piece whose digest is recorded, in bytes.
  ///
  /// A file of one piece has no digests.
  package static let recordedLength: Int64 = 1 << 20

  /// Creates an empty table for the digests that the engine records.
  ///
  /// The length of a piece is doubled until there are at most ``recordedLimit``, so the table has at
  /// most 8 KiB. `nil` if the file has only one piece.
  ///
  /// - Parameters:
  ///   - byteCount: The size of the file.
  ///   - shortest: The shortest length of a piece.
  ///   - recordID: The id of the record.
  package init?(
    recordingFileOf byteCount: Int64,
    inPiecesFrom shortest: Int64 = recordedLength,
    recordID: String
  ) {
    guard shortest > 0, byteCount > shortest, byteCount <= RecordLimits.fileSize else { return nil }
    var pieceLength = shortest
    while (byteCount - 1) / pieceLength + 1 > Self.recordedLimit { pieceLength *= 2 }
    let count = Int((byteCount - 1) / pieceLength + 1)
    self.init(
      recordID: recordID,
      byteCount: byteCount,
      pieceLength: pieceLength,
      algorithm: Self.recordedAlgorithm,
      digests: Data(count: count * 8)
    )
  }

  /// Creates the table of the digests that a publisher requires.
  ///
  /// Without digests only the size is required. `nil` if the digests are not those of all pieces, or
  /// have several algorithms.
  package init?(requiring pieces: RequiredPieces, recordID: String) {
    let algorithm = pieces.digests.first?.algorithm
    guard pieces.digests.allSatisfy({ $0.algorithm == algorithm }) else { return nil }
    self.init(
      recordID: recordID,
      byteCount: pieces.byteCount,
      pieceLength: pieces.pieceLength,
      algorithm: algorithm?.rawValue ?? Self.noAlgorithm,
      digests: pieces.digests.reduce(into: Data()) { $0 += $1.bytes }
    )
    guard isComplete else { return nil }
  }

  /// Whether the digests are those of all pieces; without any if only the size is required.
  ///
  /// Every table that the engine or a command stores is complete, and an import accepts no other.
  var isComplete: Bool {
    guard byteCount > 0, pieceLength > 0, RecordLimits.isSize(byteCount),
      RecordLimits.isSize(pieceLength)
    else { return false }
    return algorithm == Self.noAlgorithm ? digests.isEmpty : count > 0
  }

  /// Whether the publisher of the file requires its size, and the digests if there are any.
  ///
  /// Otherwise the engine has recorded them, and they say what the bytes on disk were.
  package var isRequired: Bool { algorithm != Self.recordedAlgorithm }

  /// Whether the publisher of the file requires digests, which identify its bytes.
  package var requiresDigests: Bool { isRequired && algorithm != Self.noAlgorithm }

  /// The number of pieces; zero if the stored value contradicts itself.
  package var count: Int {
    guard byteCount > 0, pieceLength > 0, let length = digestLength else { return 0 }
    let count = Int(clamping: (byteCount - 1) / pieceLength)
    // Without a product, which could overflow.
    return digests.count % length == 0 && digests.count / length - 1 == count ? count + 1 : 0
  }

  /// The length of a digest in bytes; `nil` if the algorithm is unknown.
  private var digestLength: Int? {
    isRequired ? Digest.Algorithm(rawValue: algorithm).map { $0.digitCount / 2 } : 8
  }

  /// The bytes of a piece.
  package func range(of piece: Int) -> Range<Int64> {
    let start = Int64(piece) * pieceLength
    return start..<start + min(pieceLength, byteCount - start)
  }

  /// The pieces that are completely in some ranges, in ascending order.
  package func pieces(in ranges: ByteRanges) -> [Int] {
    guard count > 0 else { return [] }
    return ranges.ranges.flatMap { range in
      let (quotient, rest) = range.lowerBound.quotientAndRemainder(dividingBy: pieceLength)
      let first = quotient + (rest == 0 ? 0 : 1)
      let isAtEnd = range.upperBound >= byteCount
      let after = isAtEnd ? Int64(count) : range.upperBound / pieceLength
      return first < after ? Array(Int(first)..<Int(after)) : []
    }
  }

  /// A hasher for one piece.
  package var hasher: PieceHasher { PieceHasher(Digest.Algorithm(rawValue: algorithm)) }

  /// Compares the digest of the bytes of a piece with the one that is required or recorded.
  ///
  /// Zeros are a recorded digest that is missing, but a required digest like any other: the
  /// publisher requires one of each piece.
  package func finding(_ digest: [UInt8], of piece: Int) -> Finding {
    guard let slot = slot(of: piece), isRequired || digests[slot].contains(where: { $0 != 0 })
    else { return .unknown }
    return digests[slot].elementsEqual(digest) ? .correct : .damaged
  }

  /// Records the digest of a piece, unless the publisher requires one.
  package mutating func record(_ digest: [UInt8], of piece: Int) {
    guard !isRequired, let slot = slot(of: piece), digest.count == slot.count else { return }
    digests.replaceSubrange(slot, with: digest)
  }

  /// Removes the recorded digest of a piece; has no effect on a required one.
  package mutating func removeDigest(of piece: Int) {
    record([UInt8](repeating: 0, count: 8), of: piece)
  }

  /// The position of the digest of a piece.
  private func slot(of piece: Int) -> Range<Data.Index>? {
    guard let length = digestLength, (0..<count).contains(piece) else { return nil }
    let start = digests.startIndex + piece * length
    return start..<start + length
  }
}

/// The digests of the pieces of a file that its publisher requires, such as those of a Metalink
/// document.
///
/// ```swift
/// var request = DownloadRequest(url: "https://example.com/disk.img")
/// request.pieces = RequiredPieces(byteCount: 5_000_000, pieceLength: 1 << 20, digests: digests)
/// ```
public struct RequiredPieces: Sendable, Hashable {
  /// The size of the file in bytes.
  public var byteCount: Int64
  /// The length of each piece but the last one in bytes.
  public var pieceLength: Int64
  /// The digests in the order of the pieces, all with the same algorithm; none to require only the
  /// size.
  public var digests: [Digest]

  /// Creates a value.
  public init(byteCount: Int64, pieceLength: Int64, digests: [Digest]) {
    self.byteCount = byteCount
    self.pieceLength = pieceLength
    self.digests = digests
  }
}

extension Digest {
  /// The bytes of the digest.
  package var bytes: [UInt8] {
    let digits = Array(hexadecimal.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      Self.value(digits[$0]) << 4 | Self.value(digits[$0 + 1])
    }
  }

  private static func value(_ digit: UInt8) -> UInt8 {
    digit < 58 ? digit - 48 : digit - 87
  }
}
