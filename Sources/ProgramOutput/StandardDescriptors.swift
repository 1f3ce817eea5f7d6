internal import SystemInterface

/// Standard input, output and error.
package enum StandardDescriptors {
  /// Opens `/dev/null` for each standard descriptor that is closed.
  ///
  /// Otherwise the next file that the process opens would get its number, and a message to standard
  /// error would be written into the store. A caller that closes standard output wants no report, so
  /// writes to it succeed, as in Git; a command whose result is its output calls ``requireOutput()``.
  /// If `/dev/null` cannot be opened, the process ends with 74 and a message.
  ///
  /// Call this before the process opens any other file.
  ///
  /// - Parameter program: The name of the program, which begins the message.
  package static func openMissing(sayingAs program: String) {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // Any other error says nothing about the descriptor.
      guard errno == EBADF else { continue }
      // A new descriptor gets the lowest free number.
      let opened = open("/dev/null", mark)
      guard opened != descriptor else { continue }
      let reason = opened < 0 ? systemErrorText() : "another file was opened meanwhile"
      // Standard error may be the descriptor that is missing: the write then fails.
      let message = "\(program): cannot open /dev/null for a closed descriptor: \(reason)\n"
      _ = write(STDERR_FILENO, Array(message.utf8).span)
      _exit(ExitStatus.inputOutput.rawValue)
    }
  }

  /// How ``openMissing(sayingAs:)`` opens the null device, which nobody else does.
  ///
  /// Worker processes inherit the descriptor.
  private static let mark = O_RDWR | O_APPEND

  /// Refuses to print a result if the caller has closed standard output: it would be lost.
  ///
  /// - Throws: ``CommandFailure`` with `inputOutput`.
  package static func requireOutput() throws(CommandFailure) {
    var (output, null) = (stat(), stat())
    guard fcntl(STDOUT_FILENO, F_GETFL) & (O_ACCMODE | O_APPEND) == mark,
      fstat(STDOUT_FILENO, &output) == 0, statFollowingLinks("/dev/null", &null) == 0,
      output.st_rdev == null.st_rdev, output.st_mode & S_IFMT == S_IFCHR
    else { return }
    throw CommandFailure(.inputOutput, "standard output is closed")
  }
}
