internal import SystemInterface

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The result of examining a path with `lstat`.
///
/// Symbolic links are not followed.
enum PathExamination {
  /// A regular file, and the number of its names (hard links).
  case file(FileIdentity, names: Int)
  /// Something else: a folder, a symbolic link or a device, for example.
  case other
  /// The path does not exist.
  case missing
  /// The path could not be examined, and may exist.
  case failed

  /// Examines a path.
  init(_ path: String) {
    var status = stat()
    if lstat(path, &status) != 0 {
      self = errno == ENOENT || errno == ENOTDIR ? .missing : .failed
    } else if status.st_mode & S_IFMT == S_IFREG {
      self = .file(FileIdentity(status), names: Int(status.st_nlink))
    } else {
      self = .other
    }
  }
}

extension FileIdentity {
  /// The modification time.
  package var modificationDate: Date { Date(timeIntervalSince1970: Double(modified) / 1e9) }

  /// The identity of the file at a path; `nil` if there is no regular file or it cannot be
  /// examined.
  ///
  /// Symbolic links are not followed. Costs one `lstat`.
  ///
  /// - Parameter path: The path of the file.
  public init?(ofFileAt path: String) {
    guard case .file(let fileIdentity, _) = PathExamination(path) else { return nil }
    self = fileIdentity
  }

  /// The identity of an open file; `nil` if the descriptor is invalid.
  package init?(ofDescriptor descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  fileprivate init(_ status: stat) {
    let modified = status.modificationTime
    self.init(
      size: Int64(status.st_size),
      inode: UInt64(status.st_ino),
      modified: Int64(
        clamping: Int128(modified.tv_sec) * 1_000_000_000 + Int128(modified.tv_nsec)
      )
    )
  }
}
