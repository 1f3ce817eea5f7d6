package import LMDB
internal import SystemInterface

/// The folder that contains a store's files.
package enum StoreFolder {
  /// The access mode of the folder itself: other users cannot see its files.
  private static let mode: mode_t = 0o700
  /// That of a folder that is made for it, which may have other contents: the umask decides.
  private static let parentMode: mode_t = 0o777

  /// Creates the folder if the access mode permits, and checks that it can hold a store.
  package static func prepare(_ path: String, access: StoreOptions.Access) throws {
    var status = stat()
    if statFollowingLinks(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw StoreFolderRefusal(.otherFile).error(path, access)
      }
    } else if errno == ENOENT, lstat(path, &status) == 0 {
      throw StoreFolderRefusal(.danglingLink).error(path, access)
    } else if errno == ENOENT, access == .create {
      try createFolder(path, mode)
    } else {
      throw failure(errno, path, access: access)
    }
    // A link is not followed: whatever it leads to, opening the file refuses it.
    if access != .create, lstat(path + "/data.mdb", &status) != 0 {
      throw failure(errno, path, access: access)
    }
  }

  private static func createFolder(_ path: String, _ mode: mode_t) throws {
    if mkdir(path, mode) == 0 || errno == EEXIST { return }
    let parent = parentFolder(of: path)
    let code = errno
    if code == EACCES || code == EPERM { throw StoreFolderRefusal(.unwritable(parent)).error(path) }
    guard code == ENOENT, parent != path else { throw failure(code, path, access: .create) }
    try createFolder(parent, parentMode)
    try syncDirectoryEntries(in: parentFolder(of: parent))
    guard mkdir(path, mode) == 0 || errno == EEXIST else {
      throw failure(errno, path, access: .create)
    }
  }

  /// Syncs the directory entries of a new store: those of its files, and that of its folder.
  ///
  /// LMDB syncs only the file. Call this before the first commit that must survive a power failure.
  static func syncDirectoryEntries(ofStore path: String) throws {
    try FolderSync.run(path)
    try syncDirectoryEntries(in: parentFolder(of: path))
  }

  /// Syncs a folder; a folder without read permission cannot be synced and is skipped.
  private static func syncDirectoryEntries(in folder: String) throws {
    do {
      try FolderSync.run(folder)
    } catch let error as StoreError where error.code == .permissionDenied {
      return
    }
  }

  private static func failure(
    _ code: Int32,
    _ path: String,
    access: StoreOptions.Access
  ) -> StoreError {
    switch code {
    case EACCES, EPERM:
      StoreError(.permissionDenied, "\(path): permission denied")
    case EROFS:
      StoreError(.cannotCreate, "\(path): the file system is read-only")
    case ENOSPC, EDQUOT:
      StoreError(.diskFull, "\(path): the disk is full")
    case ENOENT where access != .create:
      StoreError(.notFound, "\(path): there is no store here")
    case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG:
      access == .create
        ? StoreError(
          .cannotCreate,
          "\(path): the folder cannot be created: \(systemErrorText(code))"
        )
        : StoreFolderRefusal(.unreachable(systemErrorText(code))).error(path, access)
    default:
      StoreError(.other, "\(path): \(systemErrorText(code))")
    }
  }
}

/// Why a path cannot be the folder of a store.
///
/// The cause of a ``StoreError``, for a tool that knows what its user can do.
package struct StoreFolderRefusal: Error, CustomStringConvertible {
  /// The kinds of reasons.
  package enum Reason: Sendable, Hashable {
    /// A file has the name.
    case otherFile
    /// The path is a symbolic link to nothing.
    case danglingLink
    /// There is no store, and the existing folder above it is not writable.
    case unwritable(String)
    /// The path leads to nothing, for a reason of the system.
    case unreachable(String)
  }

  package let reason: Reason

  init(_ reason: Reason) { self.reason = reason }

  /// The end of the error's message.
  package var description: String {
    switch reason {
    case .otherFile: "is not a folder"
    case .danglingLink: "is a symbolic link to a folder that does not exist"
    case .unwritable(let folder):
      "there is no store here, and the folder \(folder) is not writable"
    case .unreachable(let text): text
    }
  }

  /// The error of a store at a path.
  func error(_ path: String, _ access: StoreOptions.Access = .create) -> StoreError {
    let code: StoreError.Code =
      switch reason {
      case .unwritable: .permissionDenied
      case .otherFile, .danglingLink, .unreachable: access == .create ? .cannotCreate : .notFound
      }
    let separator =
      switch reason {
      case .otherFile, .danglingLink: " "
      case .unwritable, .unreachable: ": "
      }
    return StoreError(code, "\(path)\(separator)\(self)", cause: self)
  }
}

/// Creates the data file of a new store so that it appears under its name only when it is synced.
///
/// LMDB creates a file under its final name and first syncs it with the first commit. A power
/// failure in between would leave a file that cannot be opened.
package enum NewDataFile {
  /// Creates `data.mdb` in a folder unless it exists.
  ///
  /// The file is filled in a temporary folder and then hard-linked to its name, so when several
  /// processes create the store at once, the first one wins. The temporary folder is removed after
  /// the directory entries are synced. A leftover folder is therefore a sign that they may not be:
  /// the next opening syncs them again before any commit depends on them.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - fill: Creates a data file in the folder it is given, and commits it durably.
  /// - Returns: Whether the file that `fill` created now has the name. It does not if the file
  ///   existed, if another process was first, and if the file system has no hard links: LMDB then
  ///   creates the file under its name.
  /// - Throws: ``StoreError`` with `permissionDenied`, `diskFull` or `other`, or the error of
  ///   `fill`.
  @discardableResult
  package static func createIfMissing(in path: String, fill: (String) throws -> Void) throws -> Bool
  {
    var status = stat()
    guard lstat(path + "/data.mdb", &status) != 0, errno == ENOENT else {
      let leftovers = NewFileFolder.abandoned(in: path)
      guard !leftovers.isEmpty else { return false }
      do {
        try StoreFolder.syncDirectoryEntries(ofStore: path)
      } catch {
        for leftover in leftovers { leftover.unlock() }
        throw error
      }
      for leftover in leftovers { leftover.remove() }
      return false
    }
    for leftover in NewFileFolder.abandoned(in: path) { leftover.remove() }
    let temporary = try makeTemporaryFolder(in: path)
    var marksUnsynced = false
    // A folder that stays unlocked is a leftover.
    defer { if marksUnsynced { temporary.unlock() } else { temporary.remove() } }
    try fill(temporary.path)
    // From here on, a folder that a killed process leaves is a sign, which must stay.
    UnfinishedWork.end(temporary.path)
    guard link(temporary.file, "\(path)/data.mdb") == 0 else {
      switch errno {
      // Another process has created the file.
      case EEXIST: return false
      // The file system does not support hard links: LMDB will create the file under its name.
      case EPERM, ENOTSUP, ENOSYS, EINVAL, EMLINK: return false
      default: throw StoreError(errno: errno, path)
      }
    }
    do {
      try StoreFolder.syncDirectoryEntries(ofStore: path)
    } catch {
      // Another process may have opened the file already, so it must stay.
      marksUnsynced = true
      throw error
    }
    return true
  }

  /// Makes a folder for a new file.
  ///
  /// If the process is killed, the next opening of the store deletes the folder.
  package static func makeTemporaryFolder(in path: String) throws -> NewFileFolder {
    do throws(LMDBError) {
      return try NewFileFolder.make(in: path)
    } catch {
      throw StoreError(errno: error.code.rawValue, path)
    }
  }
}

extension Store {
  /// Whether a folder contains a store.
  package static func exists(at path: String) -> Bool {
    var status = stat()
    return lstat(path + "/data.mdb", &status) == 0
  }
}
