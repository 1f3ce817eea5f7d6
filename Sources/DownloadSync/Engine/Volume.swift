#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What the file system says of the volumes that files go to.
enum Volume {
  /// The number of the volume on which a folder is, or will be when it is made; 0 when nothing of
  /// its path is there.
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

  /// How many bytes this process may still write to the volume of a folder; `nil` when that cannot
  /// be asked.
  static func availableBytes(inFolder path: String) -> Int64? {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    let (bytes, isOver) = UInt64(status.f_bavail)
      .multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isOver ? .max : Int64(clamping: bytes)
  }
}
