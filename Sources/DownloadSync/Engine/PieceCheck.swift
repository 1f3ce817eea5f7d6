internal import DownloadStore

/// The comparison of a partial file with the digests of its pieces, part by part.
///
/// Pure: the caller reads the parts.
struct PieceCheck: Sendable {
  /// The number of bytes of a part: a fraction of a second on most disks.
  static let partLength: Int64 = 64 << 20

  /// A part of a file.
  struct Part: Sendable {
    let path: String
    let digests: PieceDigests
    /// The numbers of its pieces.
    let pieces: Range<Int>

    /// Reads the part.
    ///
    /// Blocks until the disk has finished.
    ///
    /// - Throws: `FileReadError`.
    func read() throws(FileReadError) -> PieceReport {
      try PieceReport(ofFileAt: path, digests, in: pieces)
    }
  }

  private let path: String
  private let digests: PieceDigests?
  private var nextPiece = 0
  /// The bytes of the pieces that have their digests; none if the file cannot be read.
  private(set) var correct = ByteRanges()
  /// The reason why the file cannot be read; `nil` if it can.
  private var failure: FileReadError?

  /// The reason why the file could not be read for now; its bytes may be intact.
  var temporaryFailure: DownloadFailure? {
    guard let failure, SystemCallFailure(errno: failure.code) != .permanent else { return nil }
    return PartialFile.Failure(code: failure.code, operation: "reading \(path)").asDownloadFailure
  }

  /// Creates the comparison of a file; without digests, none of its bytes count.
  init(ofFileAt path: String, _ digests: PieceDigests?) {
    self.path = path
    self.digests = digests
  }

  /// The part to read next; `nil` at the end.
  var next: Part? {
    guard failure == nil, let digests, nextPiece < digests.count else { return nil }
    let count = Int(max(1, Self.partLength / digests.pieceLength))
    let end = min(nextPiece + count, digests.count)
    return Part(path: path, digests: digests, pieces: nextPiece..<end)
  }

  /// Notes what was found in the part that ``next`` returned.
  mutating func note(_ result: Result<PieceReport, FileReadError>) {
    switch result {
    case .success(let report):
      nextPiece = next?.pieces.upperBound ?? nextPiece
      correct = correct.union(report.correct)
    case .failure(let error):
      correct = ByteRanges()
      failure = error
    }
  }
}
