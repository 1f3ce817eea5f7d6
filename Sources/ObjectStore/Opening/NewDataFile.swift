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
  /// Another process may do the same at the same time; the first one wins. The temporary folder goes
  /// after the names are synced. One that is left says that they may not be: the next opening syncs
  /// them again, before a commit counts on them.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - fill: Makes a data file in a folder of its own, and commits it durably.
  /// - Throws: ``StoreError`` with `permissionDenied`, `diskFull` or `other`, or what `fill` throws.
  static func makeIfMissing(in path: String, fill: (String) throws -> Void) throws {
    var status = stat()
    guard unsafe stat(path + "/data.mdb", &status) != 0, errno == ENOENT else {
      let leftovers = leftovers(in: path)
      guard !leftovers.isEmpty else { return }
      try StoreFolder.syncNames(ofStore: path)
      return leftovers.forEach(NewFolder.remove)
    }
    leftovers(in: path).forEach(NewFolder.remove)
    let number = UInt32.random(in: .min ... .max)
    let temporary = "\(path)/\(prefix)\(getpid())-\(number)"
    guard unsafe mkdir(temporary, 0o700) == 0 else { throw StoreError(errno: errno, path) }
    var isMark = false
    defer { if !isMark { NewFolder.remove(temporary) } }
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
    do {
      try StoreFolder.syncNames(ofStore: path)
    } catch {
      // Another process may have the file open already, so that it stays.
      isMark = unsafe rename(temporary, "\(path)/\(prefix)unsynced-\(number)") == 0
      throw error
    }
  }

  /// The temporary folders that processes have left that failed or were killed.
  private static func leftovers(in path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var leftovers: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      guard name.hasPrefix(prefix) else { continue }
      let owner = name.dropFirst(prefix.count).split(separator: "-").first.flatMap { pid_t($0) }
      if let owner, kill(owner, 0) == 0 || errno != ESRCH { continue }
      leftovers.append("\(path)/\(name)")
    }
    return leftovers
  }
}
