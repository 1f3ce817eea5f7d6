internal import SystemInterface

/// A rename that never replaces an existing file and can be reverted until it is finished.
///
/// Between the two steps the file has both names, if the file system supports that, so it is found
/// under either name, also after a kill.
struct ExclusiveRename {
  /// The reason for a failed rename.
  enum Failure: Error, Hashable {
    /// The name is taken.
    case nameTaken
    /// The file system failed with this `errno`.
    case refused(Int32)
  }

  /// Syncs the folder of a file; returns the error number, or 0.
  typealias SynchronizeFolder = @Sendable (_ path: String) -> Int32

  private let old: String
  private let new: String
  private let synchronizeFolder: SynchronizeFolder
  /// Whether the file still has its old name.
  private let hasBothNames: Bool

  /// Adds the new name and makes it durable.
  ///
  /// - Throws: ``Failure``; the file then has only its old name. A failed sync of the folder is a
  ///   failure too, because the record must not name a file that a power cut may remove.
  init(
    from old: String,
    to new: String,
    synchronizingFolder synchronizeFolder: @escaping SynchronizeFolder = Self.synchronizeFolder(of:)
  ) throws(Failure) {
    self.old = old
    self.new = new
    self.synchronizeFolder = synchronizeFolder
    if link(old, new) == 0 {
      hasBothNames = true
    } else {
      switch errno {
      case EEXIST: throw .nameTaken
      // Some file systems do not support hard links.
      case EPERM, ENOTSUP, ENOSYS, EINVAL, EMLINK: try Self.renameExclusively(old, new)
      default: throw .refused(errno)
      }
      hasBothNames = false
    }
    let code = synchronizeFolder(new)
    guard code == 0 else {
      revert()
      throw .refused(code)
    }
  }

  /// Removes the old name.
  func finish() {
    guard hasBothNames else { return }
    unlink(old)
    // The record names the new file, whose name is durable. If this fails, a power cut may leave
    // the old name too, and nothing is lost.
    _ = synchronizeFolder(new)
  }

  /// Removes the new name.
  func revert() {
    if hasBothNames { unlink(new) } else { rename(new, old) }
    // The record names the old file, whose name is durable; see ``finish()``.
    _ = synchronizeFolder(old)
  }

  /// Renames a file, and never replaces another one.
  private static func renameExclusively(_ old: String, _ new: String) throws(Failure) {
    switch RenameWithoutReplacing.rename(old, to: new) {
    case 0: return
    case EEXIST: throw .nameTaken
    case EINVAL, ENOSYS, ENOTSUP: break
    case let code: throw .refused(code)
    }
    let code = NameReservation.reserve(new, for: old)
    guard code == 0 else { throw code == EEXIST ? .nameTaken : .refused(code) }
    guard rename(old, new) == 0 else {
      let code = errno
      unlink(new)
      throw .refused(code)
    }
  }

  /// Syncs the folder that contains both names.
  ///
  /// Returns the error number, or 0. A file system that cannot sync folders is not an error.
  @Sendable private static func synchronizeFolder(of path: String) -> Int32 {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let descriptor = open(String(path[..<end]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    guard fsync(descriptor) != 0, errno != EINVAL else { return 0 }
    return errno
  }
}

extension ExclusiveRename.Failure: CustomStringConvertible {
  /// The error as text.
  var description: String {
    switch self {
    case .nameTaken: "a file of that name exists"
    case .refused(let code): NamingFailure.text(code)
    }
  }
}
