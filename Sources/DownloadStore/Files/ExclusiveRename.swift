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

  private let old: String
  private let new: String
  /// Whether the file has its old name still.
  private let hasBothNames: Bool

  /// Gives the file its new name, durably.
  init(from old: String, to new: String) throws(Failure) {
    self.old = old
    self.new = new
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
    synchronizeFolder()
  }

  /// Takes the old name away.
  func finish() {
    guard hasBothNames else { return }
    unsafe unlink(old)
    synchronizeFolder()
  }

  /// Takes the new name away again.
  func revert() {
    if hasBothNames { unsafe unlink(new) } else { unsafe rename(new, old) }
    synchronizeFolder()
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

  /// Both names are in one folder.
  private func synchronizeFolder() {
    let end = new.utf8.lastIndex(of: UInt8(ascii: "/")) ?? new.startIndex
    let descriptor = unsafe open(String(new[..<end]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
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
