#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The folder in which a store lies.
enum StoreFolder {
  private static let mode: mode_t = 0o700

  /// Makes the folder when it may, and refuses what cannot be one.
  static func prepare(_ path: String, access: StoreOptions.Access) throws {
    var status = stat()
    if unsafe stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw StoreError(.cannotCreate, "\(path) is not a folder")
      }
    } else if errno == ENOENT, access == .create {
      try makeFolder(path)
    } else {
      throw failure(errno, path, access: access)
    }
    if access != .create, unsafe stat(path + "/data.mdb", &status) != 0 {
      throw failure(errno, path, access: access)
    }
  }

  private static func makeFolder(_ path: String) throws {
    if unsafe mkdir(path, mode) == 0 || errno == EEXIST { return }
    let parent = parent(of: path)
    guard errno == ENOENT, parent != path else { throw failure(errno, path, access: .create) }
    try makeFolder(parent)
    try syncNames(in: Self.parent(of: parent))
    guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else {
      throw failure(errno, path, access: .create)
    }
  }

  /// Makes the names of a new store durable: those of its files, and that of its folder.
  ///
  /// LMDB syncs its file alone. Call this before the first commit that is to survive a power cut.
  static func syncNames(ofStore path: String) throws {
    try FolderSync.run(path)
    try syncNames(in: parent(of: path))
  }

  /// Syncs a folder, unless it may not be read and so cannot be synced.
  private static func syncNames(in folder: String) throws {
    do {
      try FolderSync.run(folder)
    } catch let error as StoreError where error.code == .permissionDenied {
      return
    }
  }

  private static func parent(of path: String) -> String {
    let parts = path.split(separator: "/")
    guard parts.count > 1 else { return path.hasPrefix("/") ? "/" : "." }
    return (path.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/")
  }

  private static func failure(
    _ code: Int32,
    _ path: String,
    access: StoreOptions.Access
  ) -> StoreError {
    switch code {
    case EACCES, EPERM, EROFS:
      StoreError(.permissionDenied, "\(path): permission denied")
    case ENOSPC, EDQUOT:
      StoreError(.diskFull, "\(path): the disk is full")
    case ENOENT where access != .create:
      StoreError(.notFound, "\(path): there is no store")
    case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG:
      StoreError(.cannotCreate, "\(path): the folder cannot be made")
    default:
      StoreError(.other, "\(path): system error \(code)")
    }
  }
}
