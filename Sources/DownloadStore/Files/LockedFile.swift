internal import SystemInterface

/// An open partial file with an exclusive lock (`flock`).
///
/// While the lock is held, no other process writes, truncates or deletes the file. It ends with
/// ``unlock()``, with the value, or with the process. On file systems without locks the file is
/// used without one.
package struct LockedFile: ~Copyable {
  /// The reason why a file was not opened.
  package enum Refusal: Error, Hashable {
    /// The file does not exist.
    case missing
    /// Another process, or another transfer of this one, holds the lock.
    case locked
    /// It is not a file that this program could have created.
    case notOurs(Reason)
    /// The file system failed with this `errno`.
    case failed(Int32)
  }

  /// The difference from a file that this program creates.
  package enum Reason: String, Hashable {
    case link = "it is a symbolic link"
    case notRegular = "it is not a regular file"
    case severalNames = "it has a second name (a hard link)"
    case otherOwner = "it belongs to another user"
  }

  /// The purpose of opening the file.
  package enum Purpose {
    /// Changing its bytes: it must have a single name and belong to the effective user, or for root
    /// to the owner of its folder.
    case writing
    /// Removing its name, which leaves the bytes under any other name.
    case deleting
  }

  /// The file's descriptor, open until the value ends.
  package let descriptor: Int32

  /// Opens and locks an existing file.
  package init(_ path: String, for purpose: Purpose) throws(Refusal) {
    // Another process may replace the file between opening and locking.
    for _ in 0..<16 {
      let descriptor = try Self.opened(path, for: purpose)
      if Self.isNamed(path, descriptor) {
        self.descriptor = descriptor
        return
      }
      unlockAndClose(descriptor)
    }
    throw .locked
  }

  /// Creates and locks a new file, which only its owner can open.
  ///
  /// A file that root creates belongs to the owner of its folder.
  ///
  /// - Throws: ``Refusal/failed(_:)`` with `EEXIST` if the name is taken.
  package init(creating path: String) throws(Refusal) {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = open(path, flags, FileMode.partial)
    guard descriptor >= 0 else { throw .failed(errno) }
    FolderOwner.give(descriptor, in: FolderOwner.folder(of: path))
    if let refusal = Self.lock(descriptor) {
      close(descriptor)
      throw refusal
    }
    self.descriptor = descriptor
  }

  deinit {
    unlockAndClose(descriptor)
  }

  private static func opened(_ path: String, for purpose: Purpose) throws(Refusal) -> Int32 {
    // Opening a device or a pipe must not block.
    let access = purpose == .writing ? O_RDWR : O_RDONLY
    let descriptor = open(path, access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw Refusal(ofOpening: errno) }
    if let refusal = examine(descriptor, path, for: purpose) ?? lock(descriptor) {
      close(descriptor)
      throw refusal
    }
    // A file that was copied or restored may have another mode. A failure is harmless.
    if purpose == .writing { _ = fchmod(descriptor, FileMode.partial) }
    return descriptor
  }

  private static func examine(
    _ descriptor: Int32,
    _ path: String,
    for purpose: Purpose
  ) -> Refusal? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return .failed(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { return .notOurs(.notRegular) }
    guard purpose == .writing else { return nil }
    guard FolderOwner.isOwn(status.st_uid, path) else { return .notOurs(.otherOwner) }
    return status.st_nlink > 1 ? .notOurs(.severalNames) : nil
  }

  private static func lock(_ descriptor: Int32) -> Refusal? {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return .locked
      // Some file systems do not support locks.
      default: return nil
      }
    }
    return nil
  }

  /// Whether the path names the open file.
  private static func isNamed(_ path: String, _ descriptor: Int32) -> Bool {
    var own = stat()
    var named = stat()
    return fstat(descriptor, &own) == 0 && lstat(path, &named) == 0
      && own.st_dev == named.st_dev && own.st_ino == named.st_ino
  }

  /// What a path names.
  package enum NameState: Hashable {
    /// The open file.
    case same
    /// Nothing.
    case missing
    /// Another file.
    case other
    /// The path cannot be examined.
    case unknown
  }

  /// Examines what a path names; a symbolic link is not followed.
  package borrowing func nameState(_ path: String) -> NameState {
    var own = stat()
    var named = stat()
    guard lstat(path, &named) == 0 else { return errno == ENOENT ? .missing : .unknown }
    guard fstat(descriptor, &own) == 0 else { return .unknown }
    return own.st_dev == named.st_dev && own.st_ino == named.st_ino ? .same : .other
  }

  /// Releases the lock; the file stays open.
  package func unlock() {
    flock(descriptor, LOCK_UN)
  }

  /// Gives the file the permissions of a finished one.
  ///
  /// Errors are ignored: some file systems have no permissions.
  package borrowing func publish() {
    _ = fchmod(descriptor, FileMode.finished)
  }

  /// Truncates the file and restores its modification time.
  ///
  /// A file that is shorter stays as it is: another program has truncated it, and extending it would
  /// add bytes that no server sent.
  ///
  /// No byte that is left has changed since then, so the time still shows whether another program has
  /// written the file; see ``FileInspection/isChanged(_:since:writtenAt:)``.
  ///
  /// - Parameter size: The new size in bytes.
  /// - Returns: Zero, or -1 if the file was not truncated; `errno` has the error then.
  package borrowing func cut(to size: Int64) -> Int32 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return -1 }
    guard status.st_size >= off_t(size) else {
      errno = EIO
      return -1
    }
    guard ftruncate(descriptor, off_t(size)) == 0 else { return -1 }
    // If that fails, the file is checked needlessly.
    _ = futimens(descriptor, access: status.modificationTime, change: status.modificationTime)
    return 0
  }

  /// The file's current identity; `nil` if it cannot be examined.
  package var fileIdentity: FileIdentity? { FileIdentity(ofDescriptor: descriptor) }

  /// Deletes a file unless another process holds its lock.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - isMeant: Whether to delete the file; called while the lock is held.
  /// - Returns: Whether the file was deleted; `false` if `isMeant` returned false.
  /// - Throws: ``Refusal``, or the error of `isMeant`.
  package static func delete(
    _ path: String,
    if isMeant: (borrowing LockedFile) throws -> Bool = { _ in true }
  ) throws -> Bool {
    let file = try LockedFile(path, for: .deleting)
    guard try isMeant(file) else { return false }
    let code = withExtendedLifetime(file) { unlink(path) == 0 ? 0 : errno }
    guard code == 0 || code == ENOENT else { throw Refusal.failed(code) }
    return true
  }
}

extension LockedFile.Refusal {
  /// The refusal for an error number of `open` with `O_NOFOLLOW`.
  init(ofOpening code: Int32) {
    self =
      switch code {
      case ENOENT: .missing
      case ELOOP: .notOurs(.link)
      case EISDIR, ENXIO: .notOurs(.notRegular)
      default: .failed(code)
      }
  }
}

extension LockedFile.Refusal: CustomStringConvertible {
  /// The reason as a clause about the file.
  package var description: String {
    switch self {
    case .missing: "the file does not exist"
    case .locked: "another process is using it"
    case .notOurs(let reason): reason.rawValue
    case .failed(let code): systemErrorText(code)
    }
  }
}
