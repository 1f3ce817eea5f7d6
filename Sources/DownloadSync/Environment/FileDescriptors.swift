#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The file descriptors of this process.
enum FileDescriptors {
  /// More than a connection needs for its socket and for the look-up of its host: by the time of the
  /// question, the one that failed has closed its own.
  private static let connectionCount = 8

  /// Whether too few are left for a connection.
  ///
  /// Opens that many and closes them again.
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
