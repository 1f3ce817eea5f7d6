internal import SystemInterface

// A file of the user whose bytes a download has copied, and whose name it is to get. The file stays until
// the download is complete, and is replaced only by a file that begins with all its bytes. Until then the
// download has the next number, so that nothing else replaces it.

extension DownloadRecord {
  /// The path of the file that the download continues, if that is still the one whose bytes were copied;
  /// `nil` otherwise.
  ///
  /// Costs one `lstat` for a record that replaces a file of the user.
  package func continuedPath(in layout: FileLayout) -> String? {
    guard hasForeignFile, fileIdentity == nil, let file = replacedFileIdentity, layout.isBelowRoot
    else { return nil }
    let name = SafeFilename.withoutNumber(filename)
    let path = "\(layout.folderPath)/\(name)"
    return name != filename && FileIdentity(ofFileAt: path) == file ? path : nil
  }
}

/// The bytes of two files.
package enum FileBytes {
  /// Whether a file begins with all bytes of another one, which are synced then.
  ///
  /// Blocks until the disk has finished. Symbolic links are not followed.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - other: The path of the other one.
  /// - Returns: Whether it does; false if one of them cannot be read.
  package static func begin(_ path: String, with other: String) -> Bool {
    guard let whole = descriptor(of: path) else { return false }
    defer { close(whole) }
    guard let start = descriptor(of: other) else { return false }
    defer { close(start) }
    guard let size = FileIdentity(ofDescriptor: start)?.size else { return false }
    return areEqual(whole, start, in: 0..<size) && fsync(start) == 0
  }

  /// Whether two files have the same bytes in some ranges.
  ///
  /// Symbolic links are not followed.
  ///
  /// - Parameters:
  ///   - path: The path of a file.
  ///   - other: The path of the other one.
  ///   - ranges: The ranges.
  /// - Returns: Whether they have; false if one of them cannot be read, or ends before a range does.
  static func areEqual(_ path: String, _ other: String, in ranges: ByteRanges) -> Bool {
    guard let first = descriptor(of: path) else { return false }
    defer { close(first) }
    guard let second = descriptor(of: other) else { return false }
    defer { close(second) }
    return ranges.ranges.allSatisfy { areEqual(first, second, in: $0) }
  }

  private static func descriptor(of path: String) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    return descriptor >= 0 ? descriptor : nil
  }

  private static func areEqual(_ first: Int32, _ second: Int32, in range: Range<Int64>) -> Bool {
    var offset = Int(range.lowerBound)
    while offset < range.upperBound {
      let count = min(1 << 20, Int(range.upperBound) - offset)
      let part = bytes(ofFile: second, at: offset, count: count)
      guard part.count == count, bytes(ofFile: first, at: offset, count: count) == part else {
        return false
      }
      offset += count
    }
    return true
  }
}
