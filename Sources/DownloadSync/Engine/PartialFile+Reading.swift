internal import DownloadStore
internal import SystemInterface

extension PartialFile {
  /// Reads a range of the written bytes.
  ///
  /// Blocks until the disk has finished.
  func read(_ part: Range<Int64>) throws(Failure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(part.upperBound - part.lowerBound))
    var count = 0
    while count < bytes.count {
      let start = part.lowerBound + Int64(count)
      let got = pread(descriptor, into: &bytes, count..<bytes.count, at: start)
      if got > 0 {
        count += got
      } else if got == 0 || errno != EINTR {
        let code = got == 0 ? EIO : errno
        // Another program has truncated the file.
        let interference: Interference? = got == 0 ? .truncated : nil
        throw Failure(code: code, operation: "reading \(path)", interference: interference)
      }
    }
    return bytes
  }

  /// Reads the file up to the last written byte, and returns its digest and its identity.
  ///
  /// Blocks until the disk has finished. Reads once more if another program changes the file in the
  /// meantime.
  ///
  /// - Throws: The error of the file system; that of a busy file if another program changes it each
  ///   time.
  func digest(_ algorithm: Digest.Algorithm) throws(Failure) -> (Digest, FileIdentity) {
    _ = try trim()
    // On some file systems a sync changes the modification time.
    _ = try synchronize()
    let found = try Self.readUnchanged(
      identity: { fileIdentity },
      read: { () throws(Failure) in try hash(algorithm) }
    )
    guard let found else { throw Failure(code: EBUSY, operation: "reading \(path)") }
    return found
  }

  /// Reads a file up to three times, until no other program has changed it in the meantime.
  ///
  /// - Parameters:
  ///   - identity: Returns the current identity of the file.
  ///   - read: Reads the file.
  /// - Returns: What was read, and the identity of the file before and after that; `nil` if the file
  ///   has changed each time.
  /// - Throws: The error of `read`.
  static func readUnchanged<Value>(
    identity: () -> FileIdentity?,
    read: () throws(Failure) -> Value
  ) throws(Failure) -> (Value, FileIdentity)? {
    for _ in 0..<3 {
      let before = identity()
      let value = try read()
      if let before, before == identity() { return (value, before) }
    }
    return nil
  }

  private func hash(_ algorithm: Digest.Algorithm) throws(Failure) -> Digest {
    var hasher = DigestHasher(algorithm)
    let end = written.end
    var start: Int64 = 0
    while start < end {
      let next = min(end, start + Self.readLength)
      let bytes = try read(start..<next)
      hasher.update(bytes.span)
      start = next
    }
    return hasher.digest
  }

  private static let readLength: Int64 = 1 << 20

  /// Returns the digest of a piece of the written bytes; `nil` if the file ends before the piece.
  ///
  /// Blocks until the disk has finished. Blocks with known hashes, by offset, are not read.
  func digest(
    of piece: Int,
    _ pieces: PieceDigests,
    known: [Int64: UInt64] = [:]
  ) throws(Failure) -> [UInt8]? {
    do throws(FileReadError) {
      return try pieces.digest(of: piece, inFile: descriptor, known: known)
    } catch {
      throw Failure(code: error.code, operation: "reading \(path)")
    }
  }

  /// Compares the pieces of the file with their digests; `nil` if the file cannot be read.
  ///
  /// Blocks until the disk has finished.
  func report(_ pieces: PieceDigests) -> PieceReport? {
    try? PieceReport(ofFile: descriptor, pieces)
  }
}
