#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What `lstat` finds at a path.
///
/// Symbolic links are not followed.
enum PathExamination {
  /// A regular file.
  case file(FileIdentity)
  /// Anything else that exists.
  case other
  /// Nothing.
  case missing
  /// The path cannot be examined, for another reason than that nothing is there.
  case failed

  /// Examines a path.
  init(_ path: String) {
    var status = stat()
    if unsafe lstat(path, &status) != 0 {
      self = errno == ENOENT || errno == ENOTDIR ? .missing : .failed
    } else if status.st_mode & S_IFMT == S_IFREG {
      self = .file(FileIdentity(status))
    } else {
      self = .other
    }
  }
}

extension FileIdentity {
  /// The stamp of the file at `path`; `nil` if it is not a regular file.
  ///
  /// Symbolic links are not followed.
  public init?(ofFileAt path: String) {
    guard case .file(let fileIdentity) = PathExamination(path) else { return nil }
    self = fileIdentity
  }

  /// The stamp of an open file; `nil` if the descriptor is invalid.
  public init?(ofDescriptor descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  fileprivate init(_ status: stat) {
    #if canImport(Darwin)
      let modified = unsafe status.st_mtimespec
    #else
      let modified = status.st_mtim
    #endif
    self.init(
      size: Int64(status.st_size),
      inode: UInt64(status.st_ino),
      modified: Int64(
        clamping: Int128(modified.tv_sec) * 1_000_000_000 + Int128(modified.tv_nsec)
      )
    )
  }
}
