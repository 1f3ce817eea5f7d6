internal import SystemInterface

/// A rename that fails if the new name is taken.
package enum RenameWithoutReplacing {
  /// Renames a file in one step, which no kill can interrupt.
  ///
  /// - Returns: 0, or the error number: `EEXIST` if the name is taken; `EINVAL`, `ENOSYS` or `ENOTSUP`
  ///   if the file system or the system cannot do this.
  package static func rename(_ old: String, to new: String) -> Int32 {
    #if canImport(Darwin)
      return unsafe renamex_np(old, new, UInt32(RENAME_EXCL)) == 0 ? 0 : errno
    #else
      // Swift does not import `renameat2`.
      typealias Function =
        @convention(c) (
          Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
        ) -> Int32
      guard let symbol = unsafe dlsym(nil, "renameat2") else { return ENOSYS }
      let renameat2 = unsafe unsafeBitCast(symbol, to: Function.self)
      let noReplace: UInt32 = 1
      return unsafe renameat2(AT_FDCWD, old, AT_FDCWD, new, noReplace) == 0 ? 0 : errno
    #endif
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
    let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let code = errno
      return code == EEXIST && isReserved(new, mark) ? 0 : code
    }
    defer { close(descriptor) }
    FolderOwner.give(descriptor, in: FolderOwner.folder(of: new))
    let count = unsafe mark.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    guard count == mark.count else {
      let code = count < 0 ? errno : ENOSPC
      unsafe unlink(new)
      return code
    }
    return 0
  }

  private static func mark(_ old: String) -> [UInt8] {
    Array("reserved for \(old.split(separator: "/").last ?? "")\n".utf8)
  }

  /// Whether a file is a reservation; one that a kill left empty or incomplete is none.
  private static func isReserved(_ path: String, _ mark: [UInt8]) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size == mark.count
    else { return false }
    var bytes = [UInt8](repeating: 0, count: mark.count)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }
    return count == mark.count && bytes == mark
  }
}
