#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Standard input, output and error.
enum StandardDescriptors {
  /// Opens the null device on those that are closed.
  ///
  /// Otherwise the next files that the process opens get these numbers, and a message to standard
  /// error is written into the store. A caller that closes standard output wants no output, so
  /// writing it succeeds, as in Git.
  ///
  /// To be called before the process opens any other file.
  static func openMissing() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // A new descriptor has the lowest free number.
      guard unsafe open("/dev/null", O_RDWR) == descriptor else { _exit(EX_OSERR) }
    }
  }
}
