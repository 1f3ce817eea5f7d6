internal import SystemInterface

/// Standard input, output and error.
package enum StandardDescriptors {
  /// Opens `/dev/null` for each standard descriptor that is closed.
  ///
  /// Otherwise the next file that the process opens would get its number, and a message to standard
  /// error would be written into the store. A caller that closes standard output wants no output, so
  /// writes to it succeed, as in Git.
  ///
  /// Call this before the process opens any other file.
  package static func openMissing() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // A new descriptor gets the lowest free number.
      guard open("/dev/null", O_RDWR) == descriptor else { _exit(EX_OSERR) }
    }
  }
}
