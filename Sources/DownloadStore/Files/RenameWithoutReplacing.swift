internal import SystemInterface

/// A rename that fails if the new name is taken.
package enum RenameWithoutReplacing {
  /// Renames a file in one step, which no kill can interrupt.
  ///
  /// - Returns: 0, or the error number: `EEXIST` if the name is taken; `EINVAL`, `ENOSYS` or `ENOTSUP`
  ///   if the file system or the system cannot do this.
  package static func rename(_ old: String, to new: String) -> Int32 {
    renameWithoutReplacing(old, new) == 0 ? 0 : errno
  }
}

/// An empty name for a file, on a file system that has neither hard links nor a rename that replaces
/// nothing.
///
/// The reservation contains the name of the file that will replace it. So after a kill the same file
/// finds its reservation again, and a file of another program is never taken for one.
package enum NameReservation {
  /// Creates a reservation.
  ///
  /// - Parameters:
  ///   - new: The path to reserve.
  ///   - old: The path of the file that gets this name.
  /// - Returns: 0, also if the reservation exists already; otherwise the error number: `EEXIST` if
  ///   another file has the name.
  package static func reserve(_ new: String, for old: String) -> Int32 {
    let mark = Self.mark(old)
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let code = errno
      return code == EEXIST && isReserved(new, mark) ? 0 : code
    }
    defer { close(descriptor) }
    FolderOwner.give(descriptor, in: FolderOwner.folder(of: new))
    let count = write(descriptor, mark.span)
    guard count == mark.count else {
      let code = count < 0 ? errno : ENOSPC
      unlink(new)
      return code
    }
    return 0
  }

  private static func mark(_ old: String) -> [UInt8] {
    Array("reserved for \(old.split(separator: "/").last ?? "")\n".utf8)
  }

  /// Whether a file is a reservation; one that a kill left empty or incomplete is none.
  private static func isReserved(_ path: String, _ mark: [UInt8]) -> Bool {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size == mark.count
    else { return false }
    var bytes = [UInt8](repeating: 0, count: mark.count)
    let count = read(descriptor, into: &bytes)
    return count == mark.count && bytes == mark
  }
}
