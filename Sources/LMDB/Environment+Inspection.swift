internal import CLMDB
internal import SystemInterface

extension Environment {
  /// Checks every page of the last commit and the list of free pages.
  ///
  /// LMDB itself does not check them, and some damage ends the process when LMDB reads it.
  ///
  /// ```swift
  /// do {
  ///   try environment.checkPages()
  /// } catch where error.isCorruption {
  ///   print("restore a backup of \(environment.path): \(error)")
  /// }
  /// ```
  ///
  /// - Throws: ``LMDBError`` with `corrupted` or `inputOutput`, or as ``beginRead()``.
  /// - Complexity: O(n) in the pages of the file.
  public func checkPages() throws(LMDBError) {
    // While the snapshot is open, its pages are not reused. Start again if another commit has
    // overwritten its meta page.
    var attempts = 100
    while attempts > 0 {
      attempts -= 1
      let snapshot = try beginRead()
      var verifier = try PageVerifier(
        descriptor: descriptor,
        pageSize: pageSize,
        transaction: snapshot.id
      )
      let isChecked = try verifier.run()
      _ = consume snapshot
      if isChecked { return }
    }
    throw LMDBError(.corrupted, operation: "finding the last commit")
  }

  /// Returns the number of the last committed transaction, which every commit of any process
  /// changes.
  ///
  /// While a commit waits for the disk, this may be ahead of the snapshot that ``beginRead()``
  /// returns; use ``Transaction/id`` for the number of a snapshot. Reads only shared memory; costs
  /// some tens of nanoseconds. The corresponding C function is `mdb_env_info`.
  public func lastTransactionID() throws(LMDBError) -> UInt64 {
    try gate.withMapPinned { () throws(LMDBError) in
      try environmentInfo(handle).lastTransaction
    }
  }

  /// Returns the number of the last commit in the data file, whatever the lock file says.
  ///
  /// A commit of another process may change it during the call. Costs some microseconds.
  package func lastTransactionIDInFile() throws(LMDBError) -> UInt64 {
    try DataFileReader.transactions(of: descriptor).last
  }

  /// Returns the current sizes and reader counts.
  ///
  /// Costs some tens of nanoseconds. The corresponding C functions are `mdb_env_info` and
  /// `mdb_env_stat`.
  public func statistics() throws(LMDBError) -> EnvironmentStatistics {
    try gate.withMapPinned { () throws(LMDBError) in
      let info = try environmentInfo(handle)
      return EnvironmentStatistics(
        mapSize: info.mapSize,
        usedSize: (Int(info.lastPage) + 1) * pageSize,
        pageSize: pageSize,
        lastTransactionID: info.lastTransaction,
        readers: info.readers,
        maximumReaders: info.maximumReaders,
        mainDatabase: DatabaseStatistics(try environmentStatistics(handle))
      )
    }
  }

  /// Returns the number of free pages: pages that commits have freed and later commits may reuse.
  ///
  /// The corresponding C functions are `mdb_cursor_open` and `mdb_cursor_get`, on the database of
  /// free pages.
  ///
  /// - Throws: ``LMDBError`` as ``beginRead()``.
  /// - Complexity: O(n) in the commits whose freed pages have not been reused.
  public func freePageCount() throws(LMDBError) -> Int {
    let freeDatabase: UInt32 = 0
    let snapshot = try beginRead()
    let count = try snapshot.listedPageCount(inDatabase: freeDatabase)
    _ = consume snapshot
    return count
  }

  /// Returns the size of the free pages in bytes, at the cost of ``freePageCount()``.
  ///
  /// - Throws: ``LMDBError`` as ``beginRead()``.
  package func freeByteCount() throws(LMDBError) -> Int64 {
    Int64(try freePageCount()) * Int64(pageSize)
  }

  /// Returns the reader slots in use, over all processes.
  ///
  /// Reads the table without a lock, so a read that begins or ends during the call may or may not
  /// be listed. The corresponding C function is `mdb_reader_list`.
  public func readers() -> [EnvironmentReader] {
    var readers: [EnvironmentReader] = []
    environmentListReaders(handle) { line in
      if let reader = EnvironmentReader(line: line) { readers.append(reader) }
    }
    return readers
  }
}
