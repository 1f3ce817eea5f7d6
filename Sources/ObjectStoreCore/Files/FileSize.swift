internal import SystemInterface

/// Reads the sizes of files.
package enum FileSize {
  /// Returns the size of the file in bytes.
  ///
  /// - Throws: ``StoreError`` with `notFound`, `permissionDenied` or `other`.
  package static func of(_ path: String) throws -> Int64 {
    var status = stat()
    guard statFollowingLinks(path, &status) == 0 else { throw StoreError(errno: errno, path) }
    return Int64(status.st_size)
  }
}

/// The free space of disks.
package enum FreeSpace {
  /// The number of bytes that the user can write; `nil` if it is not known.
  package static func ofDisk(at path: String) -> Int64? {
    guard let status = volumeStatus(ofFolder: path) else { return nil }
    let (bytes, overflows) = UInt64(status.f_bavail)
      .multipliedReportingOverflow(by: UInt64(status.f_frsize))
    // A file system without a limit may report the largest number of blocks.
    return overflows ? .max : Int64(clamping: bytes)
  }
}
