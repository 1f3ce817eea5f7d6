extension Environment {
  /// Writes the last commit to a new file, while other threads and processes read and write.
  ///
  /// Synced on return: the file and its name survive a power cut. To open the copy, name it
  /// `data.mdb` in a folder of its own. The copy takes the time to read and write the whole file.
  /// During it, pages that other commits free cannot be reused, so the data file may grow. The
  /// corresponding C function is `mdb_env_copyfd2`.
  ///
  /// ```swift
  /// try environment.copy(to: "/backup/notes/data.mdb", compacting: true)
  /// ```
  ///
  /// - Parameters:
  ///   - path: The file to create, with the permission bits that this environment was opened with.
  ///   - compacting: Omits free pages and renumbers the others, so that the file is as small as
  ///     possible.
  /// - Throws: ``LMDBError`` with `fileExists`, `noSuchFile`, `accessDenied`, `noSpace`,
  ///   `incompatible` (compacting, and the file has pages that are neither used nor free),
  ///   `wouldDeadlock` (this thread has a write transaction), or as ``beginRead()``. No new file is
  ///   left behind, and an existing file is unchanged.
  public func copy(to path: String, compacting: Bool = false) throws(LMDBError) {
    let target = try EnvironmentFile.createExclusively(path, mode: fileMode)
    do throws(LMDBError) {
      defer { EnvironmentFile.close(target) }
      try copy(to: target, compacting: compacting)
      try DurableFile.sync(target, at: path)
      try EnvironmentFile.syncFolder(of: path)
    } catch {
      EnvironmentFile.remove(path)
      throw error
    }
  }

  /// Writes the last commit to an open file or pipe.
  ///
  /// Writes from the descriptor's current position. Neither closes nor syncs the descriptor. Bytes
  /// written before an error stay. Costs as much as the copy to a path.
  ///
  /// - Throws: ``LMDBError`` as the copy to a path, or with an error of writing to the descriptor.
  public func copy(to descriptor: Int32, compacting: Bool = false) throws(LMDBError) {
    // LMDB briefly takes the write lock, and would deadlock with a write transaction of this
    // thread.
    try gate.claimWriter()
    defer { gate.releaseWriter() }
    try retryingAfterMapResize { () throws(LMDBError) in
      // LMDB begins a read transaction that the gate does not count. This one keeps the map in
      // place.
      let snapshot = try beginRead()
      defer { _ = snapshot.id }
      try environmentCopy(handle, descriptor, compacting: compacting)
    }
  }
}
