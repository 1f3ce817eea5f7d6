extension Environment {
  /// Writes the last commit to a new file, while others read and write.
  ///
  /// The file is complete and outlasts a power cut on return. To open it, name it `data.mdb` in a
  /// folder of its own. Costs the time to read and write as many bytes as the file has; meanwhile
  /// pages freed by commits cannot be used again and the file may grow. The corresponding C
  /// function is `mdb_env_copyfd2`.
  ///
  /// - Parameters:
  ///   - path: The file to make, with the permission bits that this environment was opened with.
  ///   - compacting: Leaves free pages out and puts the others in order, so that the
  ///     file is as small as it can be.
  /// - Throws: ``LMDBError`` with `fileExists`, `noSuchFile`, `accessDenied`, `noSpace`,
  ///   `incompatible` (compacting, and pages are lost that no list of free ones has),
  ///   `wouldDeadlock` (this thread has a write transaction), or as ``beginRead()``. Then there is
  ///   no such file, or it is the one that was there.
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

  /// Writes the last commit to an open file or pipe, as the other `copy` does.
  ///
  /// Begins at the descriptor's position, does not close it, and syncs nothing; what was written
  /// before an error stays.
  ///
  /// - Throws: ``LMDBError`` as the other does, or with what writing to the descriptor answers.
  public func copy(to descriptor: Int32, compacting: Bool = false) throws(LMDBError) {
    // LMDB takes the lock of the writer for a moment, and would wait for its own thread.
    try gate.claimWriter()
    defer { gate.releaseWriter() }
    try adoptingForeignGrowth { () throws(LMDBError) in
      // LMDB begins a transaction that the gate does not see; this one keeps the map where it is.
      let snapshot = try beginRead()
      defer { _ = snapshot.id }
      unsafe try environmentCopy(handle, descriptor, compacting: compacting)
    }
  }
}
