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
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let whole = open(path, flags)
    guard whole >= 0 else { return false }
    defer { close(whole) }
    let start = open(other, flags)
    guard start >= 0 else { return false }
    defer { close(start) }
    guard let size = FileIdentity(ofDescriptor: start)?.size else { return false }
    var offset = 0
    while offset < size {
      let count = min(1 << 20, Int(size) - offset)
      let part = bytes(ofFile: start, at: offset, count: count)
      guard part.count == count, bytes(ofFile: whole, at: offset, count: count) == part else {
        return false
      }
      offset += count
    }
    return fsync(start) == 0
  }
}
