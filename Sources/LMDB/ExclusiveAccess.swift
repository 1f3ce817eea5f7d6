/// Work on the files of an environment that nobody may have open meanwhile.
extension Environment {
  /// Runs `body` while no process, this one included, has the environment in `folder` open.
  ///
  /// An open by another process waits until the end, one by this process is refused with `busy`.
  /// `body` may replace `data.mdb` by a file that is complete, by renaming that one.
  ///
  /// - Throws: ``LMDBError`` with `busy` (some process has it open), `noSuchFile` (nobody ever had),
  ///   or what else the system answers; or what `body` throws.
  package static func withExclusiveAccess<R>(
    to folder: String,
    _ body: () throws -> R
  ) throws -> R {
    let claim = try EnvironmentRegistry.claim(folder)
    defer { EnvironmentRegistry.release(claim) }
    return try body()
  }

  /// Gives the free pages of the environment in `folder` back to the disk.
  ///
  /// Writes a compacted copy beside the file and renames it over the file: a process that is killed
  /// meanwhile leaves one of them, and maybe a partial copy that the next call removes. Numbers of
  /// transactions begin at 1 again. Needs the room of the copy, and the time of
  /// ``copy(to:compacting:)``.
  ///
  /// - Throws: ``LMDBError`` as ``withExclusiveAccess(to:_:)``, ``open(_:options:)`` and
  ///   ``copy(to:compacting:)``; then the file is as it was.
  package static func compact(
    _ folder: String,
    options: EnvironmentOptions = EnvironmentOptions()
  ) throws {
    try withExclusiveAccess(to: folder) {
      var options = options
      options.isReadOnly = true
      // Without LMDB's own lock, which would end ours.
      let environment = try Environment(path: folder, options: options, kind: .unlocked)
      let copy = folder + "/data.mdb.compacted"
      EnvironmentFile.remove(copy)
      try environment.copy(to: copy, compacting: true)
      do throws(LMDBError) {
        try DurableFile.rename(copy, to: folder + "/data.mdb")
      } catch {
        EnvironmentFile.remove(copy)
        throw error
      }
      try EnvironmentFile.syncFolder(of: copy)
    }
  }
}
