internal import SystemInterface

/// Operations that need an environment closed in every process.
extension Environment {
  /// Runs `body` while no process, including this one, has the environment in `folder` open.
  ///
  /// Until `body` returns, other processes that open the environment wait, and an open in this
  /// process fails with `busy`. `body` may replace `data.mdb`, only with
  /// ``replaceDataFile(in:with:)``.
  ///
  /// - Throws: ``LMDBError`` with `busy` (a process has it open), `noSuchFile` (`folder` has no data
  ///   file), or another system error; or the error that `body` throws.
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

  /// Replaces the data file of a folder to which the caller has exclusive access.
  ///
  /// The new file is synced, gets the owner and the permissions of the old one, and is renamed over
  /// it. Processes that wait to open the environment open the new file when the access ends. Synced
  /// on return.
  ///
  /// - Parameters:
  ///   - folder: The folder of the environment.
  ///   - name: The path of the new file below the folder, without an open environment.
  /// - Throws: ``LMDBError``. The data file is then unchanged, unless only the final sync of the
  ///   folder failed.
  package static func replaceDataFile(
    in folder: String,
    with name: String
  ) throws(LMDBError) {
    let target = folder + "/data.mdb"
    let copy = "\(folder)/\(name)"
    let descriptor = try StoreFile.openRegular(copy, flags: O_RDWR)
    defer { EnvironmentFile.close(descriptor) }
    var original = stat()
    guard lstat(target, &original) == 0 else {
      throw LMDBError(LMDBError.Code(rawValue: errno), operation: "lstat")
    }
    try EnvironmentFile.setOwner(of: descriptor, like: original)
    try DurableFile.sync(descriptor, at: copy)
    try EnvironmentRegistry.claim(newFile: name, in: folder)
    ReplacementStep.begin(.renameNewFile)
    try DurableFile.rename(copy, to: target)
    try DurableFile.syncFolder(folder)
  }

  /// Compacts the environment in `folder`, which returns its free pages to the file system.
  ///
  /// Writes a compacted copy next to the data file and renames it over the file. If the process is
  /// killed during this, the data file is either the old or the new one, and the next call removes
  /// a partial copy. The new file has the owner and the permissions of the old one, and transaction
  /// numbers continue. Needs free disk space for the copy, and takes as long as
  /// ``copy(to:compacting:)``.
  ///
  /// - Parameters:
  ///   - folder: The folder of the environment.
  ///   - options: The options with which the environment is opened.
  ///   - check: Throws an error if the environment must not be compacted.
  /// - Throws: ``LMDBError`` as ``withExclusiveAccess(to:_:)``, ``open(_:options:)`` and
  ///   ``copy(to:compacting:)``; any error that `check` throws. The data file is then unchanged,
  ///   unless only the final sync of the folder failed.
  package static func compact(
    _ folder: String,
    options: EnvironmentOptions = EnvironmentOptions(),
    check: (Environment) throws -> Void = { _ in }
  ) throws {
    try withExclusiveAccess(to: folder) {
      var options = options
      options.isReadOnly = true
      let environment = try Environment(path: folder, options: options, kind: .unlocked)
      try check(environment)
      for leftover in NewFileFolder.abandoned(in: folder) { leftover.remove() }
      ReplacementStep.begin(.writeNewFile)
      let made = try NewFileFolder.make(in: folder)
      defer { made.remove() }
      try environment.writeCompacted(to: made.file)
      try replaceDataFile(in: folder, with: made.fileName)
    }
  }

  /// Writes a marked file that can replace the data file.
  private func writeCompacted(to path: String) throws(LMDBError) {
    let target = try EnvironmentFile.createExclusively(path, mode: 0o600)
    defer { EnvironmentFile.close(target) }
    let last = try lastTransactionID()
    try copy(to: target, compacting: true)
    let number = try EnvironmentFile.continueNumbers(of: target, at: path, from: last)
    // The pages of the original were checked when it was opened, or it has a mark.
    let inode = UInt64(try EnvironmentFile.status(of: target).st_ino)
    CheckedMark.set(target, inode: inode, transaction: number, isSynced: true)
  }
}

extension EnvironmentFile {
  /// Gives the only commit of a compacted file the next odd number after `last`.
  ///
  /// LMDB gives it the number 1, in the second meta page, which is that of odd numbers. Numbers that
  /// continue keep what other data says about earlier commits valid. A number of the old file is
  /// never one of the new file, so a lock file that has it is recognized.
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
    let number = (last + 1) | 1
    let count = pwrite(descriptor, number, at: file.transactionOffset(ofMetaPage: 1))
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
