internal import SystemInterface

/// Queries about the volumes that contain the downloaded files.
enum Volume {
  /// Returns the device number of the volume that contains a folder, or will contain it.
  ///
  /// A folder that does not exist yet gets the volume of its nearest existing parent folder.
  ///
  /// - Parameter path: The absolute path of the folder.
  /// - Returns: The device number; 0 if it cannot be determined.
  static func identifier(ofFolder path: String) -> UInt64 {
    var path = path[...]
    while true {
      var status = stat()
      if unsafe stat(path.isEmpty ? "/" : String(path), &status) == 0 {
        return UInt64(truncatingIfNeeded: status.st_dev)
      }
      guard let slash = path.lastIndex(of: "/") else { return 0 }
      path = path[..<slash]
    }
  }

  /// Returns the number of bytes that this process may still write to the volume of a folder.
  ///
  /// The corresponding C function is `statvfs`.
  ///
  /// - Parameter path: The path of an existing folder.
  /// - Returns: The free space in bytes; `nil` if it cannot be queried.
  static func availableBytes(inFolder path: String) -> Int64? {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    let (bytes, isOver) = UInt64(status.f_bavail)
      .multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isOver ? .max : Int64(clamping: bytes)
  }
}
