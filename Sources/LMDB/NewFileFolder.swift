internal import SystemInterface

/// A folder beside the data file in which a new one is made.
///
/// Its process holds a lock on the folder (`flock`), so other processes, also in other containers,
/// can tell it from one that a killed process left. Only such folders are removed, never a file that
/// this package did not create.
package struct NewFileFolder: UnfinishedItem {
  /// The path of the folder.
  package let path: String
  private let descriptor: Int32

  private static let prefix = "data.mdb.new-"

  /// The path of the new data file in the folder.
  package var file: String { path + "/data.mdb" }

  /// The path of the new data file below the folder of the environment.
  package var fileName: String { lastName(in: path) + "/data.mdb" }

  /// Makes and locks a folder with a random name, which is ``UnfinishedWork`` until it is removed.
  ///
  /// - Throws: ``LMDBError`` with the code of `mkdir`, or with `ECANCELED` if the process is about to
  ///   end.
  package static func make(in folder: String) throws(LMDBError) -> NewFileFolder {
    guard
      let made = try UnfinishedWork.begin({ () throws(LMDBError) in try makeFolder(in: folder) })
    else { throw LMDBError(LMDBError.Code(rawValue: ECANCELED), operation: "mkdir") }
    return made
  }

  private static func makeFolder(in folder: String) throws(LMDBError) -> NewFileFolder {
    while true {
      let path = "\(folder)/\(prefix)\(String(UInt64.random(in: .min ... .max), radix: 16))"
      guard mkdir(path, 0o700) == 0 else {
        if errno == EEXIST { continue }
        throw LMDBError(LMDBError.Code(rawValue: errno), operation: "mkdir")
      }
      // Another process may have taken it for a leftover before it was locked.
      if let made = lock(path, isNew: true) { return made }
    }
  }

  /// Locks the folders that killed processes have left.
  ///
  /// The caller calls ``remove()`` or ``unlock()`` on each of them.
  package static func abandoned(in folder: String) -> [NewFileFolder] {
    var folders: [NewFileFolder] = []
    for name in namesInFolder(folder) ?? [] {
      guard name.hasPrefix(prefix), let found = lock("\(folder)/\(name)", isNew: false)
      else { continue }
      folders.append(found)
    }
    return folders
  }

  /// Locks a folder; returns `nil` if another process has it, or has removed it.
  ///
  /// On a file system without locks only the process that made a folder removes it.
  private static func lock(_ path: String, isNew: Bool) -> NewFileFolder? {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let descriptor = open(path, flags)
    guard descriptor >= 0 else { return nil }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      if errno != EWOULDBLOCK, isNew { break }
      EnvironmentFile.close(descriptor)
      return nil
    }
    let own = (try? EnvironmentFile.status(of: descriptor)).map(EnvironmentRegistry.Identity.init)
    guard let own, EnvironmentRegistry.identity(of: path) == own else {
      EnvironmentFile.close(descriptor)
      return nil
    }
    return NewFileFolder(path: path, descriptor: descriptor)
  }

  /// Removes the folder with the environment in it, and the lock.
  package func remove() {
    removeFiles()
    unlock()
  }

  /// Removes the folder with the environment in it, and keeps the lock.
  package func removeFiles() { Self.removeEnvironment(at: path, descriptor) }

  /// Removes an open folder with the environment in it, also while another thread creates that.
  package static func removeEnvironment(at path: String, _ descriptor: Int32) {
    while rmdir(path) != 0, errno == ENOTEMPTY || errno == EEXIST {
      // Relative to the open folder, which cannot be replaced by a link.
      let removed = ["data.mdb", "lock.mdb"].filter { unlinkat(descriptor, $0, 0) == 0 }
      if removed.isEmpty { return }
    }
  }

  /// Releases the lock, so that another process may remove the folder.
  package func unlock() {
    UnfinishedWork.end(path)
    unlockAndClose(descriptor)
  }
}
