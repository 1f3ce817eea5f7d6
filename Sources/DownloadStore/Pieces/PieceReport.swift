internal import SystemInterface

/// The pieces of a file on disk, compared with their digests.
package struct PieceReport: Sendable, Hashable {
  /// The bytes whose pieces have their digests.
  package private(set) var correct = ByteRanges()
  /// The bytes whose pieces have other digests, or are missing at the end of the file.
  package private(set) var damaged = ByteRanges()
  /// The bytes whose pieces have no digests.
  package private(set) var unknown = ByteRanges()

  /// Reads a file and compares some or all of its pieces.
  ///
  /// Costs one read of these pieces; uses memory for one block.
  ///
  /// - Parameters:
  ///   - path: The file; a symbolic link is not followed.
  ///   - pieces: The digests.
  ///   - part: The numbers of the pieces to compare; `nil` for all.
  /// - Throws: ``FileReadError``.
  package init(
    ofFileAt path: String,
    _ pieces: PieceDigests,
    in part: Range<Int>? = nil
  ) throws(FileReadError) {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileReadError(code: errno) }
    defer { close(descriptor) }
    try self.init(ofFile: descriptor, pieces, in: part)
  }

  /// Reads an open file and compares some or all of its pieces.
  ///
  /// Costs one read of these pieces; uses memory for one block.
  ///
  /// - Parameters:
  ///   - descriptor: The file.
  ///   - pieces: The digests.
  ///   - part: The numbers of the pieces to compare; `nil` for all.
  /// - Throws: ``FileReadError``.
  package init(
    ofFile descriptor: Int32,
    _ pieces: PieceDigests,
    in part: Range<Int>? = nil
  ) throws(FileReadError) {
    for piece in part ?? 0..<pieces.count {
      let range = pieces.range(of: piece)
      guard let digest = try pieces.digest(of: piece, inFile: descriptor) else {
        damaged.insert(range)
        continue
      }
      switch pieces.finding(digest, of: piece) {
      case .correct: correct.insert(range)
      case .damaged: damaged.insert(range)
      case .unknown: unknown.insert(range)
      }
    }
  }
}

extension PieceDigests {
  /// Reads a piece and returns its digest; `nil` if the file ends before the piece does.
  ///
  /// Blocks until the disk has finished.
  ///
  /// - Parameters:
  ///   - piece: The number of the piece.
  ///   - descriptor: The file.
  ///   - known: The hashes of blocks that need not be read, by offset; only for recorded digests.
  /// - Returns: The digest.
  /// - Throws: ``FileReadError``.
  package func digest(
    of piece: Int,
    inFile descriptor: Int32,
    known: [Int64: UInt64] = [:]
  ) throws(FileReadError) -> [UInt8]? {
    let range = range(of: piece)
    var hasher = hasher
    var buffer = [UInt8](
      repeating: 0,
      count: Int(min(Int64(PieceHasher.blockLength), range.upperBound - range.lowerBound))
    )
    var start = range.lowerBound
    while start < range.upperBound {
      let length = Int(min(Int64(buffer.count), range.upperBound - start))
      if let hash = known[start] {
        hasher.update(withHash: hash)
        start += Int64(length)
        continue
      }
      guard try Self.fill(&buffer, length, from: start, of: descriptor) else { return nil }
      hasher.update(buffer.span.extracting(first: length))
      start += Int64(length)
    }
    return hasher.digest
  }

  /// Reads bytes; returns false if the file ends before.
  private static func fill(
    _ buffer: inout [UInt8],
    _ length: Int,
    from start: Int64,
    of descriptor: Int32
  ) throws(FileReadError) -> Bool {
    var count = 0
    while count < length {
      let got = pread(descriptor, into: &buffer, count..<length, at: start + Int64(count))
      if got > 0 {
        count += got
      } else if got == 0 {
        return false
      } else if errno != EINTR {
        throw FileReadError(code: errno)
      }
    }
    return true
  }
}

/// A file that cannot be read.
package struct FileReadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error number.
  package var code: Int32

  /// The system's description.
  package var description: String { systemErrorText(code) }
}

extension RecordStoreError {
  /// Creates the error with `fileSystem` of a file that cannot be read.
  init(_ error: FileReadError, reading path: String) {
    self.init(.fileSystem, "reading \(path): \(error)")
  }
}
