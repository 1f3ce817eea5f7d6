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
  /// a partial copy. Transaction numbers start at 1 again. Needs free disk space for the copy, and
  /// takes as long as ``copy(to:compacting:)``.
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
      try environment.copy(to: copy, compacting: true)
      do throws(LMDBError) {
        // The pages of the original were checked when it was opened, or it has a mark.
        try CheckedMark.set(ofFileAt: copy)
        try DurableFile.rename(copy, to: folder + "/data.mdb")
      } catch {
        EnvironmentFile.remove(copy)
        throw error
      }
      try EnvironmentFile.syncFolder(of: copy)
    }
  }
}
