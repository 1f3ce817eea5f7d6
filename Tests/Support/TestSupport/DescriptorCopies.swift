internal import SystemInterface

/// Copies of this process's descriptors of a file, as a child process has them between `fork` and
/// `exec`.
public final class DescriptorCopies: Sendable {
  private let copies: [Int32]

  /// The number of copies.
  public var count: Int { copies.count }

  /// Copies each descriptor of the file at a path.
  public init(ofFileAt path: String) {
    var named = stat()
    guard lstat(path, &named) == 0 else {
      copies = []
      return
    }
    // First all of them, since the copies are descriptors of the file, too.
    let found = (0..<Int32(1 << 16)).filter { descriptor in
      var status = stat()
      return fstat(descriptor, &status) == 0 && status.st_dev == named.st_dev
        && status.st_ino == named.st_ino
    }
    copies = found.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }.filter { $0 >= 0 }
  }

  deinit {
    for copy in copies { close(copy) }
  }
}
