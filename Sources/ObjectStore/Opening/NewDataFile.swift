internal import LMDB

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Makes the data file of a new store so that it has its name only once it is whole and synced.
///
/// LMDB gives a new file its name first and syncs it with the first commit: a power cut in between
/// leaves a file that cannot be opened.
enum NewDataFile {
  private static let prefix = "data.mdb.new-"

  /// Makes `data.mdb` in the folder, unless there is one.
  ///
  /// Another process may do the same at the same time; the first one wins.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - fill: Makes a data file in a folder of its own, and commits it durably.
  /// - Throws: ``StoreError`` with `permissionDenied`, `diskFull` or `other`, or what `fill` throws.
  static func makeIfMissing(in path: String, fill: (String) throws -> Void) throws {
    var status = stat()
    guard unsafe stat(path + "/data.mdb", &status) != 0, errno == ENOENT else { return }
    removeLeftovers(in: path)
    let temporary = "\(path)/\(prefix)\(getpid())-\(UInt32.random(in: .min ... .max))"
    guard unsafe mkdir(temporary, 0o700) == 0 else { throw StoreError(errno: errno, path) }
    defer { NewFolder.remove(temporary) }
    try fill(temporary)
    guard unsafe link("\(temporary)/data.mdb", "\(path)/data.mdb") == 0 else {
      switch errno {
      // Another process was quicker.
      case EEXIST: return
      // The file system has no second names: LMDB makes the file under its name.
      case EPERM, ENOTSUP, ENOSYS, EINVAL, EMLINK: return
      default: throw StoreError(errno: errno, path)
      }
    }
    try FolderSync.run(path)
    do {
      try FolderSync.run(FolderSync.parent(of: path))
    } catch let error as StoreError where error.code == .permissionDenied {
      // A folder that may not be read cannot be synced.
    }
  }

  /// Removes what processes have left that were killed before their file had its name.
  private static func removeLeftovers(in path: String) {
    guard let folder = unsafe opendir(path) else { return }
    defer { unsafe closedir(folder) }
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      guard name.hasPrefix(prefix),
        let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }
        ),
        kill(process, 0) != 0, errno == ESRCH
      else { continue }
      NewFolder.remove("\(path)/\(name)")
    }
  }
}
