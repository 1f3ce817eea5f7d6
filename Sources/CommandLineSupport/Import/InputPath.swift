internal import SystemInterface

/// The paths of files that the user gives to be read.
package enum InputPath {
  /// Opens a file, or standard input for `-`.
  ///
  /// The caller closes the descriptor.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - flags: Further flags of `open`.
  /// - Returns: A descriptor that `exec` closes.
  /// - Throws: ``CommandFailure`` with `usage` for a folder; with `notFound`, `permissionDenied` or
  ///   `inputOutput`.
  package static func open(_ path: String, flags: Int32 = 0) throws(CommandFailure) -> Int32 {
    let name = path == "-" ? "standard input" : path
    let descriptor =
      path == "-"
      ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
      : SystemInterface.open(path, O_RDONLY | O_CLOEXEC | flags)
    guard descriptor >= 0 else {
      let (code, status) = (errno, SystemCall.status())
      // Nothing is created: a loop of links, for example, leads to no file.
      throw CommandFailure(
        status == .cannotCreate ? .notFound : status,
        "cannot read \(name): \(systemErrorText(code))"
      )
    }
    guard !isFolder(descriptor) else {
      close(descriptor)
      throw CommandFailure(.usage, "\(name) is a folder, not a file")
    }
    return descriptor
  }

  /// Throws if a file cannot be read.
  ///
  /// - Throws: ``CommandFailure``, as ``open(_:flags:)``.
  package static func requireReadable(_ path: String) throws(CommandFailure) {
    // Opening a pipe would wait for its writer.
    close(try open(path, flags: O_NONBLOCK))
  }

  /// Whether a descriptor is that of a folder, which can be opened, but not read.
  package static func isFolder(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
