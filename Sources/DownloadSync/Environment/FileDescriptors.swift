internal import SystemInterface

/// The file descriptors of this process.
enum FileDescriptors {
  /// More than a connection needs for its socket and its DNS lookup.
  ///
  /// A connection that failed has closed its own descriptors before the check.
  private static let connectionCount = 8

  /// Whether too few descriptors are free for a connection.
  ///
  /// Opens that number of descriptors and closes them again.
  static var areExhausted: Bool {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    while opened.count < connectionCount {
      let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return SystemCallFailure(errno: errno) == .outOfResources }
      opened.append(descriptor)
    }
    return false
  }
}
