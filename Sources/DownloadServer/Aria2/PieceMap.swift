internal import DownloadStore
internal import ObjectStore

/// The pieces of a file that are on disk, as aria2's clients draw them.
///
/// A download has no pieces: a map divides its file into at most ``mostPieces`` of equal length.
struct PieceMap: Sendable, Hashable {
  /// The largest number of pieces, which bounds the length of an answer.
  static let mostPieces: Int64 = 1_024
  /// The smallest length of a piece in bytes, which is aria2's.
  static let shortestPiece: Int64 = 1 << 20

  /// The length of each piece but the last, in bytes.
  let pieceLength: Int64
  /// The number of pieces; zero if the size of the file is not known.
  let count: Int64
  private let size: Int64

  /// Creates the map of a file.
  ///
  /// - Parameter size: The size in bytes; `nil` if it is not known.
  init(size: Int64?) {
    self.size = max(0, size ?? 0)
    var length = Self.shortestPiece
    while self.size / length >= Self.mostPieces { length *= 2 }
    pieceLength = length
    count = self.size / length + (self.size % length == 0 ? 0 : 1)
  }

  /// Returns the pieces all of whose bytes are in a set: one bit for each, the highest one first, as
  /// hexadecimal digits; `nil` if there are no pieces.
  func bits(of bytes: ByteRanges) -> String? {
    guard count > 0 else { return nil }
    var bits = [UInt8](repeating: 0, count: Int((count + 7) / 8))
    for range in bytes.ranges {
      let first = range.lowerBound / pieceLength + (range.lowerBound % pieceLength == 0 ? 0 : 1)
      // The last piece may be shorter.
      let end = range.upperBound >= size ? count : range.upperBound / pieceLength
      for piece in first..<max(first, min(end, count)) {
        bits[Int(piece / 8)] |= 0x80 >> UInt8(piece % 8)
      }
    }
    return Hexadecimal.encode(bits)
  }
}
