#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A rename that never replaces what is there, and that can be taken back until it is finished.
///
/// Between the two steps the file has both names where the file system allows that, so that whoever
/// looks under either finds it, also after a kill.
struct ExclusiveRename {
  /// Why a file did not get its name.
  enum Failure: Error, Hashable {
    /// Something has the name already.
    case nameTaken
    /// The file system refused, with that `errno`.
    case refused(Int32)
  }

  /// Syncs the folder of a file; returns the error number, or 0.
  typealias SynchronizeFolder = @Sendable (_ path: String) -> Int32

  private let old: String
  private let new: String
  private let synchronizeFolder: SynchronizeFolder
  /// Whether the file has its old name still.
  private let hasBothNames: Bool

  /// Gives the file its new name, durably.
  ///
  /// - Throws: ``Failure``; the file has its old name alone then. A folder that cannot be synced
  ///   counts as a refusal: the record must not name a file that a power cut may take away.
  init(
    from old: String,
    to new: String,
    synchronizingFolder synchronizeFolder: @escaping SynchronizeFolder = Self.synchronizeFolder(of:)
  ) throws(Failure) {
    self.old = old
    self.new = new
    self.synchronizeFolder = synchronizeFolder
    if unsafe link(old, new) == 0 {
      hasBothNames = true
    } else {
      switch errno {
      case EEXIST: throw .nameTaken
      // Some file systems have no second names.
      case EPERM, ENOTSUP, ENOSYS, EINVAL, EMLINK: try Self.replaceReservation(old, new)
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

  /// Takes the old name away.
  func finish() {
    guard hasBothNames else { return }
    unsafe unlink(old)
    // The record names the new file, whose name is durable: if this fails, a power cut may leave the
    // old name as well, and nothing is lost.
    _ = synchronizeFolder(new)
  }

  /// Takes the new name away again.
  func revert() {
    if hasBothNames { unsafe unlink(new) } else { unsafe rename(new, old) }
    // The record names the old file, whose name was durable before: as in ``finish()``.
    _ = synchronizeFolder(old)
  }

  /// Makes an empty file that must not exist, and renames over that.
  private static func replaceReservation(_ old: String, _ new: String) throws(Failure) {
    let reservation = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard reservation >= 0 else { throw errno == EEXIST ? .nameTaken : .refused(errno) }
    close(reservation)
    guard unsafe rename(old, new) == 0 else {
      let code = errno
      unsafe unlink(new)
      throw .refused(code)
    }
  }

  /// Syncs the folder of a file, in which both names are.
  ///
  /// Returns the error number, or 0; a file system that cannot sync a folder is no error.
  @Sendable private static func synchronizeFolder(of path: String) -> Int32 {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let descriptor = unsafe open(String(path[..<end]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    guard fsync(descriptor) != 0, errno != EINVAL else { return 0 }
    return errno
  }
}

extension ExclusiveRename.Failure: CustomStringConvertible {
  /// What the operating system says.
  var description: String {
    switch self {
    case .nameTaken: "there is a file of that name"
    case .refused(let code): unsafe String(cString: strerror(code))
    }
  }
}
