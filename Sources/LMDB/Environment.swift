internal import CLMDB
internal import Synchronization

/// An LMDB environment: one memory-mapped file that holds any number of databases.
///
/// Any number of processes may open the same folder; in one process every open of a folder gives
/// the same environment, with the options of the first (POSIX drops a file's locks when any descriptor of it is closed, so a
/// second one would end the first one's). The environment closes when its last reference goes;
/// transactions hold one.
///
/// Processes of several containers may share a folder if no two of them have the same process id:
/// a second one that has is refused its first read with `processIDInUse`.
///
/// Reads never wait, see one snapshot, and may run on any thread. Writes are serialised over all
/// threads and processes; a process that dies while it writes leaves no trace and no lock.
@safe
public final class Environment: Sendable {
  // A C handle that LMDB itself makes safe to share between threads; never reassigned.
  nonisolated(unsafe) let handle: OpaquePointer
  let gate: TransactionGate
  let identity: EnvironmentRegistry.Identity
  private let pageSize: Int
  private let descriptor: Int32
  let fileMode: UInt32
  private let isInMemory: Bool
  private let clearedReaders: Atomic<Int>

  /// The folder that holds `data.mdb` and `lock.mdb`; one in memory has left it.
  public let path: String
  /// Whether the environment was opened without the right to write.
  ///
  /// False also for an open with `isReadOnly` that found it open for writing in this process.
  public let isReadOnly: Bool

  /// Opens the environment in the folder `path`, which must exist.
  ///
  /// - Throws: ``LMDBError`` with ``LMDBError/Code/noSuchFile`` (no such folder, or no file in it
  ///   and `isReadOnly`), `accessDenied`, `busy` (this process has it open for reading alone, or has
  ///   claimed it), `invalid` or `versionMismatch` (not a file of this LMDB
  ///   version), `noSpace`, or what else the system answers.
  public static func open(
    _ path: String,
    options: EnvironmentOptions = EnvironmentOptions()
  ) throws(LMDBError) -> Environment {
    try EnvironmentRegistry.open(path, options: options)
  }

  /// Whether this process has the environment in the folder `path` open for reading alone, and so
  /// cannot open it for writing.
  public static func isOpenForReadingAlone(_ path: String) -> Bool {
    EnvironmentRegistry.isReadOnly(path)
  }

  /// Whom the files of an environment are for.
  enum Kind {
    /// Every process.
    case shared
    /// Whoever has claimed them, so that LMDB takes no lock.
    case unlocked
    /// This object alone: they have no name and are gone with it.
    case inMemory
  }

  /// Makes an empty environment that is kept in memory and gone with its last reference.
  ///
  /// No other process and no other open sees it, and nothing stays of it however the process ends
  /// after this.
  /// No commit waits for a disk, whatever its ``CommitSync``. Its files lie where the system keeps
  /// files in memory, or in the folder for temporary ones where there is no such place.
  ///
  /// - Throws: ``LMDBError`` with `noSpace`, `accessDenied`, or what else the system answers.
  public static func openInMemory(
    options: EnvironmentOptions = EnvironmentOptions()
  ) throws(LMDBError) -> Environment {
    var options = options
    options.isReadOnly = false
    EnvironmentFile.occupyStandardDescriptors()
    let folder = try EnvironmentFile.makeMemoryFolder()
    // LMDB has the files open by then, and needs their names no more.
    defer { EnvironmentFile.removeFolder(folder) }
    return try Environment(path: folder, options: options, kind: .inMemory)
  }

  init(
    path: String,
    options: EnvironmentOptions,
    kind: Kind = .shared
  ) throws(LMDBError) {
    self.path = path
    self.isReadOnly = options.isReadOnly
    fileMode = options.fileMode
    isInMemory = kind == .inMemory
    var cleared = 0
    let handle = unsafe try Self.openHandle(path: path, options: options, kind, &cleared)
    clearedReaders = Atomic(cleared)
    unsafe self.handle = unsafe handle
    do throws(LMDBError) {
      unsafe descriptor = try environmentDescriptor(handle)
      identity = EnvironmentRegistry.Identity(try EnvironmentFile.status(of: descriptor))
      pageSize = unsafe Int(try environmentStatistics(handle).ms_psize)
      // Nothing that is in memory alone can be damaged.
      if !isInMemory {
        let file = ChangedFile(
          descriptor: descriptor,
          pageSize: pageSize,
          isReadOnly: isReadOnly,
          checksAlways: options.checksPages
        )
        unsafe try file.check(handle)
      }
    } catch {
      unsafe environmentClose(handle)
      throw error
    }
    gate = TransactionGate()
  }

  deinit {
    unsafe gate.drain { unsafe transactionAbort($0) }
    unsafe EnvironmentRegistry.close(identity, handle)
  }

  /// Opens with the largest map that the system grants.
  private static func openHandle(
    path: String,
    options: EnvironmentOptions,
    _ kind: Kind,
    _ clearedReaders: inout Int
  ) throws(LMDBError) -> OpaquePointer {
    var flags = MDB_NOTLS | MDB_NORDAHEAD
    switch kind {
    case .shared: try EnvironmentFile.reserveLockFile(in: path, options: options)
    case .unlocked: flags |= MDB_NOLOCK
    case .inMemory:
      try EnvironmentFile.reserveLockFile(in: path, options: options)
      flags |= MDB_NOSYNC
    }
    if options.isReadOnly {
      flags |= MDB_RDONLY
      // LMDB would try to write a first page.
      if EnvironmentFile.isEmpty(in: path) {
        throw LMDBError(.noSuchFile, operation: "mdb_env_open")
      }
    }
    if kind != .inMemory { try DataFileReader.checkMetaPages(in: path) }
    var mapSize = options.mapSize
    while true {
      // After a failed `mdb_env_open` the handle may only be closed, so each try has its own.
      let handle = unsafe try environmentCreate()
      do throws(LMDBError) {
        unsafe try environmentSetLimits(
          handle,
          mapSize: mapSize,
          readers: UInt32(options.maximumReaders),
          databases: UInt32(options.maximumDatabases)
        )
        unsafe try environmentReportAssertions(handle)
        unsafe try environmentOpen(handle, path: path, flags: flags, mode: options.fileMode)
        let descriptor = unsafe try environmentDescriptor(handle)
        // LMDB sets this for its other files alone.
        try EnvironmentFile.closeOnExec(descriptor)
        let identity = EnvironmentRegistry.Identity(try EnvironmentFile.status(of: descriptor))
        // One that opens for reading has the file before the lock, and then waits while the file is
        // replaced.
        guard identity == EnvironmentRegistry.identity(of: path + "/data.mdb") ?? identity else {
          unsafe environmentClose(handle)
          continue
        }
        unsafe clearedReaders += try environmentCheckReaders(handle)
        return unsafe handle
      } catch {
        unsafe environmentClose(handle)
        // Where the address space is too small the system says one or the other.
        guard error.code == .outOfMemory || error.code == .invalidArgument,
          mapSize > Self.smallestMap
        else { throw error }
        mapSize /= 2
      }
    }
  }

  /// Opens so that LMDB writes the lock file, and changes nothing else.
  static func openForLockFile(_ handle: OpaquePointer, _ path: String) throws(LMDBError) {
    unsafe try environmentOpen(handle, path: path, flags: MDB_RDONLY | MDB_NOTLS, mode: 0)
  }

  private static let smallestMap = 64 << 20

  // MARK: Transactions

  /// Begins a read transaction: a snapshot of the last commit, until the value goes.
  ///
  /// Keep it short: while it lives, pages freed by later commits cannot be reused and the file
  /// grows. Costs about 100 ns. The corresponding C functions are `mdb_txn_begin` and
  /// `mdb_txn_renew`.
  ///
  /// - Throws: ``LMDBError`` with `readersFull`, `processIDInUse`, or `mapResized` when another
  ///   process enlarged the file and readers of this process did not end for ten seconds.
  public func beginRead() throws(LMDBError) -> ReadTransaction {
    let raw = unsafe try adoptingForeignGrowth { () throws(LMDBError) -> OpaquePointer in
      let idle = unsafe gate.enterReader()
      do throws(LMDBError) {
        guard let idle = unsafe idle else { return unsafe try beginNewRead() }
        do throws(LMDBError) {
          unsafe try transactionRenew(idle)
          return unsafe idle
        } catch {
          unsafe transactionAbort(idle)
          throw error
        }
      } catch {
        gate.leave()
        throw error
      }
    }
    return unsafe ReadTransaction(raw: raw, environment: self)
  }

  private func beginNewRead() throws(LMDBError) -> OpaquePointer {
    do throws(LMDBError) {
      return unsafe try transactionBegin(handle, flags: MDB_RDONLY)
    } catch {
      guard error.code == .readersFull else { throw error }
      try clearStaleReaders()
      return unsafe try transactionBegin(handle, flags: MDB_RDONLY)
    }
  }

  /// Begins the write transaction, after waiting for the one of any other thread or process.
  ///
  /// The value must be committed or dropped on the thread that called; dropping it without
  /// ``WriteTransaction/commit(_:)`` undoes it. The corresponding C function is `mdb_txn_begin`.
  ///
  /// - Throws: ``LMDBError`` with `accessDenied` (opened read-only), `wouldDeadlock` (this thread
  ///   has a write transaction), `mapResized` as ``beginRead()``, or what the system answers.
  public func beginWrite() throws(LMDBError) -> WriteTransaction {
    guard !isReadOnly else { throw LMDBError(.accessDenied, operation: "mdb_txn_begin") }
    try gate.claimWriter()
    do throws(LMDBError) {
      // A reader that died keeps pages from being used again.
      if gate.takeReaderCheck() { try clearStaleReaders() }
      let raw = unsafe try adoptingForeignGrowth { () throws(LMDBError) -> OpaquePointer in
        gate.enterWriter { growIfNeeded(wasFull: $0) }
        do throws(LMDBError) {
          return unsafe try transactionBegin(handle, flags: 0)
        } catch {
          gate.leave()
          throw error
        }
      }
      return unsafe WriteTransaction(raw: raw, environment: self)
    } catch {
      gate.releaseWriter()
      throw error
    }
  }

  /// Makes every commit so far outlast a power cut, those with less than ``CommitSync/full`` too.
  ///
  /// Waits for the disk, and for no transaction. An environment that closes does not do this. The
  /// corresponding C function is `mdb_env_sync`.
  ///
  /// - Throws: ``LMDBError`` with `accessDenied` (opened read-only), `noSpace` or `inputOutput`.
  public func sync() throws(LMDBError) {
    do throws(LMDBError) {
      try DurableFile.check(.sync(path + "/data.mdb"), "mdb_env_sync")
      unsafe try environmentSync(handle)
    } catch {
      throw examined(error)
    }
  }

  func flags(of sync: CommitSync) -> Int32 {
    isInMemory ? CommitSync.deferred.flags : sync.flags
  }

  /// What a failed write means, after noting what follows from it.
  func examined(_ error: LMDBError) -> LMDBError {
    if error.code == .mapFull { gate.requestGrowth() }
    // LMDB answers a write that the system cut short, for want of room, with EIO.
    if error.code == .inputOutput, EnvironmentFile.isDiskFull(under: descriptor) {
      return LMDBError(.noSpace, operation: error.operation)
    }
    return error
  }

  // MARK: The map

  /// Runs `begin` again after enlarging our map when another process has enlarged the file.
  func adoptingForeignGrowth<R>(
    _ begin: () throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    var attempts = 10
    while true {
      do throws(LMDBError) {
        return try begin()
      } catch {
        guard error.code == .mapResized, attempts > 0 else { throw error }
        attempts -= 1
        // The map can only move when no transaction of this process looks at it.
        _ = gate.whenIdle(within: 1_000) { growIfNeeded(wasFull: false) }
      }
    }
  }

  /// Enlarges the map when a write found it full, or once three quarters of it are used.
  ///
  /// Runs inside the gate, while no transaction is open. What cannot be had now is left: the write
  /// then finds the map full.
  private func growIfNeeded(wasFull: Bool) {
    guard let info = unsafe try? environmentInfo(handle) else { return }
    let used = unsafe (info.me_last_pgno + 1) * pageSize
    let current = unsafe info.me_mapsize
    var size = wasFull ? current * 2 : current
    while used > size / 4 * 3 { size *= 2 }
    // LMDB gives its map up before it asks for the new one; a refusal would leave it without any.
    guard size > current, EnvironmentFile.canMap(descriptor, size: size) else { return }
    _ = unsafe try? environmentSetMapSize(handle, size)
  }

  // MARK: Facts

  /// Reads every page of the file that is in use and checks that it is what it should be.
  ///
  /// LMDB itself does not: some damage ends the process when it is met.
  ///
  /// - Throws: ``LMDBError`` with `corrupted`, or as ``beginRead()``.
  /// - Complexity: O(n) in the pages of the file.
  public func checkPages() throws(LMDBError) {
    // While this is open, no page of the last commit is used again.
    var attempts = 100
    while attempts > 0 {
      attempts -= 1
      let snapshot = try beginRead()
      var walk = try PageWalk(
        descriptor: descriptor,
        pageSize: pageSize,
        transaction: snapshot.id
      )
      let isChecked = try walk.run()
      _ = consume snapshot
      if isChecked { return }
    }
    throw LMDBError(.corrupted, operation: "finding the last commit")
  }

  /// Marks the file as changed by a commit alone, if the transaction changed it.
  func markCommit(_ transaction: UInt64, isSynced: Bool) {
    // LMDB gives no number to a commit without changes.
    guard !isInMemory, let last = try? lastTransactionID(), last >= transaction else { return }
    CheckedMark.set(
      descriptor,
      inode: identity.inode,
      transaction: transaction,
      isSynced: isSynced
    )
  }

  /// The number of the last transaction that the file names; it changes with every commit of any
  /// process.
  ///
  /// While a commit waits for the disk it may be ahead of what ``beginRead()`` sees: never take it
  /// for the number of a snapshot. Reads shared memory alone and costs some tens of nanoseconds. The corresponding C function is
  /// `mdb_env_info`.
  public func lastTransactionID() throws(LMDBError) -> UInt64 {
    try gate.holdingMap { () throws(LMDBError) in
      unsafe UInt64(UInt(bitPattern: try environmentInfo(handle).me_last_txnid))
    }
  }

  /// Sizes and reader counts as they are now.
  ///
  /// Costs some tens of nanoseconds. The corresponding C functions are `mdb_env_info` and
  /// `mdb_env_stat`.
  public func statistics() throws(LMDBError) -> EnvironmentStatistics {
    try gate.holdingMap { () throws(LMDBError) in
      let info = unsafe try environmentInfo(handle)
      return unsafe EnvironmentStatistics(
        mapSize: info.me_mapsize,
        usedSize: (info.me_last_pgno + 1) * pageSize,
        pageSize: pageSize,
        lastTransactionID: UInt64(UInt(bitPattern: info.me_last_txnid)),
        readers: Int(info.me_numreaders),
        maximumReaders: Int(info.me_maxreaders),
        mainDatabase: DatabaseStatistics(try environmentStatistics(handle))
      )
    }
  }

  /// How many pages of the file are free: written by earlier commits, to be used by later ones.
  ///
  /// The corresponding C functions are `mdb_cursor_open` and `mdb_cursor_get`, on the database of
  /// free pages.
  ///
  /// - Throws: ``LMDBError`` as ``beginRead()``.
  /// - Complexity: O(n) in the commits whose free pages nothing has used yet.
  public func freePageCount() throws(LMDBError) -> Int {
    let freeDatabase: UInt32 = 0
    let snapshot = try beginRead()
    let cursor = unsafe Cursor(raw: try cursorOpen(snapshot.raw, freeDatabase))
    var count = 0
    var entry = unsafe try cursor.first()
    while let pages = unsafe entry?.value {
      // A list of page numbers that begins with how many follow.
      count += unsafe Int(bitPattern: pages.loadUnaligned(as: UInt.self))
      unsafe entry = unsafe try cursor.next()
    }
    _ = consume snapshot
    return count
  }

  /// The slots in use in the table of readers, over all processes.
  ///
  /// Looks at the table without a lock: a read that begins or ends now may be there or not. The
  /// corresponding C function is `mdb_reader_list`.
  public func readers() -> [EnvironmentReader] {
    var readers: [EnvironmentReader] = []
    unsafe environmentListReaders(handle) { line in
      if let reader = EnvironmentReader(line: line) { readers.append(reader) }
    }
    return readers
  }

  /// Frees the slots of readers whose process is gone, and returns how many there were.
  ///
  /// Done at each open too, and from time to time at a write. The corresponding C function is `mdb_reader_check`.
  @discardableResult
  public func clearStaleReaders() throws(LMDBError) -> Int {
    let count = unsafe try environmentCheckReaders(handle)
    clearedReaders.add(count, ordering: .relaxed)
    return count
  }

  /// How many slots of readers whose process was gone this environment has freed so far.
  public var clearedReaderCount: Int { clearedReaders.load(ordering: .relaxed) }
}
