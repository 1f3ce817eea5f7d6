internal import SystemInterface

/// Small files that this program keeps in a store's folder, such as locks.
///
/// The folder may belong to another user, or others may write to it. A name in it may then lead to
/// any file of this process's user, so nothing but a plain file of the program is opened.
package enum FolderFile {
  /// Opens a file, and creates it with mode 0600 if it is missing.
  ///
  /// A file that root creates in the folder of another user belongs to that user, who can use the
  /// store afterwards.
  ///
  /// - Parameters:
  ///   - name: The file's name.
  ///   - folder: The path of the folder.
  /// - Returns: A descriptor for reading and writing.
  /// - Throws: ``LockedFile/Refusal`` for a symbolic link, anything but a regular file, a file with
  ///   a second name, and a file that belongs neither to the effective user nor to the folder's
  ///   owner.
  package static func openOrCreate(
    _ name: String,
    in folder: String
  ) throws(LockedFile.Refusal) -> Int32 {
    let path = "\(folder)/\(name)"
    // Another process may create or delete the file between the calls.
    for _ in 0..<16 {
      do throws(LockedFile.Refusal) {
        return try open(name, in: folder, O_RDWR)
      } catch .missing {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = SystemInterface.open(path, flags, 0o600)
        if descriptor >= 0 {
          FolderOwner.give(descriptor, in: folder)
          return descriptor
        }
        guard errno == EEXIST else { throw .failed(errno) }
      }
    }
    throw .locked
  }

  /// Opens an existing file.
  ///
  /// - Parameters:
  ///   - name: The file's name.
  ///   - folder: The path of the folder.
  ///   - access: `O_RDONLY` or `O_RDWR`.
  /// - Returns: A descriptor.
  /// - Throws: As ``openOrCreate(_:in:)``; ``LockedFile/Refusal/missing`` if there is none.
  package static func open(
    _ name: String,
    in folder: String,
    _ access: Int32
  ) throws(LockedFile.Refusal) -> Int32 {
    // Opening a device or a pipe must not block.
    let flags = access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = SystemInterface.open("\(folder)/\(name)", flags)
    guard descriptor >= 0 else {
      throw LockedFile.Refusal(ofOpening: errno)
    }
    if let refusal = examine(descriptor, in: folder) {
      close(descriptor)
      throw refusal
    }
    return descriptor
  }

  private static func examine(_ descriptor: Int32, in folder: String) -> LockedFile.Refusal? {
    var file = stat()
    guard fstat(descriptor, &file) == 0 else { return .failed(errno) }
    guard file.st_mode & S_IFMT == S_IFREG else { return .notOurs(.notRegular) }
    guard file.st_nlink <= 1 else { return .notOurs(.severalNames) }
    guard file.st_uid == geteuid() || file.st_uid == FolderOwner(of: folder)?.user else {
      return .notOurs(.otherOwner)
    }
    return nil
  }
}

/// The owner of a folder, who also owns what root creates in it.
///
/// An engine that root runs on the store of another user, as in a container with a mounted folder,
/// would leave folders and files that this user cannot change or delete.
package struct FolderOwner {
  /// The user.
  let user: uid_t
  private let group: gid_t

  /// Examines a folder; `nil` if that fails.
  init?(of folder: String) {
    var status = stat()
    guard statFollowingLinks(folder, &status) == 0 else { return nil }
    user = status.st_uid
    group = status.st_gid
  }

  /// Gives a file or folder that this process has created in a folder to the folder's owner.
  ///
  /// Only root can do that, and for any other user it has no effect. Errors are ignored, as in a
  /// container without the right: what was created then belongs to root.
  package static func give(_ descriptor: Int32, in folder: String) {
    guard geteuid() == 0, let owner = FolderOwner(of: folder), owner.user != 0 else { return }
    _ = fchown(descriptor, owner.user, owner.group)
  }

  /// Gives a folder that this process has created to the owner of the folder that contains it.
  package static func giveFolder(_ path: String) {
    guard geteuid() == 0 else { return }
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = open(path, flags)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    give(descriptor, in: path + "/..")
  }

  /// Creates a folder and its missing parent folders, which belong to the owner of the folder that
  /// contains them.
  ///
  /// - Throws: ``RecordStoreError`` with `fileSystem`.
  static func makeFolder(_ path: String) throws(RecordStoreError) {
    var status = stat()
    if statFollowingLinks(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
    // A slash with a combining mark is one Character, but a slash to the file system.
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex {
      try makeFolder(String(path[..<slash]))
    }
    if mkdir(path, 0o777) == 0 { return giveFolder(path) }
    let code = errno
    guard code == EEXIST else {
      throw RecordStoreError(
        .fileSystem,
        "creating the folder \(path) failed: \(NamingFailure.text(code))"
      )
    }
  }

  /// Renames a file over another one, whose owner it gets if this process is root.
  ///
  /// The owner changes last: after a kill in between, a partial file of another user would not be
  /// continued. Errors of that change are ignored.
  ///
  /// - Returns: The error number of the rename, or 0.
  package static func rename(_ path: String, over replaced: String) -> Int32 {
    var previous = stat()
    let isKnown = geteuid() == 0 && lstat(replaced, &previous) == 0
    let descriptor = isKnown ? FileMode.openOwn(path) : nil
    defer { if let descriptor { close(descriptor) } }
    guard SystemInterface.rename(path, replaced) == 0 else { return errno }
    if let descriptor { _ = fchown(descriptor, previous.st_uid, previous.st_gid) }
    return 0
  }

  /// Whether a file in a folder is one that this process could have created there.
  ///
  /// - Parameters:
  ///   - user: The owner of the file.
  ///   - path: The path of the file.
  /// - Returns: Whether it belongs to this user, or, for root, to the owner of its folder.
  static func isOwn(_ user: uid_t, _ path: String) -> Bool {
    if user == geteuid() { return true }
    return geteuid() == 0 && FolderOwner(of: folder(of: path))?.user == user
  }

  /// The folder of a file.
  static func folder(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
  }
}

/// The permissions of downloaded files.
package enum FileMode {
  /// Those of an incomplete file: another user who could open it could lock it.
  static let partial: mode_t = 0o600
  /// Those of a finished file: 0666 without the bits of the process's umask.
  ///
  /// Read once; the program does not change its umask.
  static let finished: mode_t = 0o666 & ~processUmask

  /// Gives a complete file the permissions of a finished one, or those of the file that it replaces; a
  /// symbolic link is not followed.
  ///
  /// Errors are ignored: some file systems have no permissions.
  package static func publish(_ path: String, replacing replaced: String? = nil) {
    var mode = finished
    var previous = stat()
    if let replaced, lstat(replaced, &previous) == 0 { mode = previous.st_mode & 0o777 }
    guard let descriptor = openOwn(path) else { return }
    defer { close(descriptor) }
    _ = fchmod(descriptor, mode)
  }

  /// Opens a file that this process could have created; `nil` for any other.
  fileprivate static func openOwn(_ path: String) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var file = stat()
    guard fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG,
      FolderOwner.isOwn(file.st_uid, path), file.st_nlink <= 1
    else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  private static var processUmask: mode_t {
    #if os(Linux)
      // `umask` can only be read by changing it, which other threads would notice.
      if let mask = umaskInStatus() { return mask }
    #endif
    let mask = umask(0o077)
    _ = umask(mask)
    return mask
  }

  #if os(Linux)
    /// The line `Umask:` of `/proc/self/status`; `nil` before Linux 4.7.
    private static func umaskInStatus() -> mode_t? {
      let descriptor = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 1_024)
      let count = read(descriptor, into: &bytes)
      let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(
        separator: "\n"
      )
      guard let line = lines.first(where: { $0.hasPrefix("Umask:") }),
        let digits = line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last
      else { return nil }
      return mode_t(digits, radix: 8)
    }
  #endif
}
