internal import SystemInterface

/// Operations that need an environment closed in every process.
extension Environment {
  /// Runs `body` while no process, including this one, has the environment in `folder` open.
  ///
  /// Until `body` returns, other processes that open the environment wait, and an open in this
  /// process fails with `busy`. `body` may replace `data.mdb` by renaming a complete file over it.
  ///
  /// - Throws: ``LMDBError`` with `busy` (a process has it open), `noSuchFile` (`folder` has no
  ///   lock file, so the environment has never been opened), or another system error; or the error
  ///   that `body` throws.
  package static func withExclusiveAccess<R>(
    to folder: String,
    _ body: () throws -> R
  ) throws -> R {
    let claim = try EnvironmentRegistry.claim(folder)
    defer { EnvironmentRegistry.release(claim) }
    return try body()
  }

  /// Opens the environment in `folder` for reading, while the caller has exclusive access to it.
  ///
  /// Close it before ``withExclusiveAccess(to:_:)`` ends.
  package static func openClaimed(_ folder: String) throws(LMDBError) -> Environment {
    // LMDB must not open the lock file: closing it would release our lock on it.
    try Environment(path: folder, options: EnvironmentOptions(isReadOnly: true), kind: .unlocked)
  }

  /// Compacts the environment in `folder`, which returns its free pages to the file system.
  ///
  /// Writes a compacted copy next to the data file and renames it over the file. If the process is
  /// killed during this, the data file is either the old or the new one, and the next call removes
  /// a partial copy. The new file has the owner and the permissions of the old one, and transaction
  /// numbers continue. Needs free disk space for the copy, and takes as long as
  /// ``copy(to:compacting:)``.
  ///
  /// - Throws: ``LMDBError`` as ``withExclusiveAccess(to:_:)``, ``open(_:options:)`` and
  ///   ``copy(to:compacting:)``. The data file is then unchanged, unless only the final sync of the
  ///   folder failed.
  package static func compact(
    _ folder: String,
    options: EnvironmentOptions = EnvironmentOptions()
  ) throws {
    try withExclusiveAccess(to: folder) {
      var options = options
      options.isReadOnly = true
      let environment = try Environment(path: folder, options: options, kind: .unlocked)
      let copy = folder + "/data.mdb.compacted"
      EnvironmentFile.remove(copy)
      do throws(LMDBError) {
        let descriptor = try partialCopies.withLock { copies throws(LMDBError) in
          try copies.create(copy)
        }
        try environment.writeCompacted(to: descriptor, at: copy)
        try DurableFile.rename(copy, to: folder + "/data.mdb")
        partialCopies.withLock { $0.forget(copy) }
      } catch {
        partialCopies.withLock { $0.remove(copy) }
        throw error
      }
      try EnvironmentFile.syncFolder(of: copy)
    }
  }

  /// The unfinished copies of this process, which has exclusive access to their environments.
  private struct PartialCopies {
    private var paths: Set<String> = []
    private var isAbandoned = false

    mutating func create(_ path: String) throws(LMDBError) -> Int32 {
      guard !isAbandoned else {
        throw LMDBError(LMDBError.Code(rawValue: ECANCELED), operation: "compacting")
      }
      let descriptor = try EnvironmentFile.createExclusively(path, mode: 0o600)
      paths.insert(path)
      return descriptor
    }

    mutating func forget(_ path: String) {
      paths.remove(path)
    }

    mutating func remove(_ path: String) {
      EnvironmentFile.remove(path)
      paths.remove(path)
    }

    mutating func abandon() {
      isAbandoned = true
      for path in paths { EnvironmentFile.remove(path) }
    }
  }

  private static let partialCopies = Mutex(PartialCopies())

  /// Removes the unfinished copies of compactions in this process, which fail from then on.
  ///
  /// For a process that is about to end.
  package static func abandonCompactions() {
    partialCopies.withLock { $0.abandon() }
  }

  /// Writes a synced and marked file that can replace the data file, and closes it.
  private func writeCompacted(to target: Int32, at path: String) throws(LMDBError) {
    defer { EnvironmentFile.close(target) }
    let original = try EnvironmentFile.status(of: descriptor)
    let last = try lastTransactionID()
    try copy(to: target, compacting: true)
    let number = try EnvironmentFile.continueNumbers(of: target, at: path, from: last)
    try EnvironmentFile.setOwner(of: target, like: original)
    try DurableFile.sync(target, at: path)
    // The pages of the original were checked when it was opened, or it has a mark.
    let inode = UInt64(try EnvironmentFile.status(of: target).st_ino)
    CheckedMark.set(target, inode: inode, transaction: number, isSynced: true)
    try EnvironmentFile.syncFolder(of: path)
  }
}

extension EnvironmentFile {
  /// Gives the only commit of a compacted file the next odd number from `last` on.
  ///
  /// LMDB gives it the number 1, in the second meta page, which is that of odd numbers. Numbers that
  /// continue keep what other data says about earlier commits valid.
  ///
  /// - Returns: The number of the file's last commit.
  fileprivate static func continueNumbers(
    of descriptor: Int32,
    at path: String,
    from last: UInt64
  ) throws(LMDBError) -> UInt64 {
    let file = try DataFileReader(path: path)
    // An empty environment has no commit, and the number 0.
    guard file.lastTransaction == 1 else { return file.lastTransaction }
    let number = last | 1
    let count = unsafe withUnsafeBytes(of: number) {
      unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(file.pageSize + 144))
    }
    guard count == 8 else { throw LMDBError(LMDBError.Code(rawValue: errno), operation: "pwrite") }
    return number
  }

  /// Sets the owner and the permissions of a file; the owner only if it differs.
  fileprivate static func setOwner(
    of descriptor: Int32,
    like original: stat
  ) throws(LMDBError) {
    let own = try status(of: descriptor)
    if own.st_uid != original.st_uid || own.st_gid != original.st_gid,
      fchown(descriptor, original.st_uid, original.st_gid) != 0
    {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "fchown")
    }
    guard fchmod(descriptor, original.st_mode & 0o777) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "fchmod")
    }
  }
}
