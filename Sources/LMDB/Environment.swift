internal import CLMDB
internal import SystemInterface

/// An LMDB environment: a memory-mapped file that holds any number of databases.
///
/// Any number of processes may open the same folder. Within a process, each open of a folder
/// returns the same environment, with the options of the first open. (POSIX drops a process's locks
/// on a file when the process closes any descriptor of it, so a second environment would release
/// the locks of the first.) The environment closes when its last reference is released; a
/// transaction retains its environment.
///
/// Containers may share a folder if no two of their processes have the same process ID. If they do,
/// the first read of the second process fails with `processIDInUse`.
///
/// A read sees one snapshot, never waits for a writer, and may run on any thread. Writes are
/// serialized across all threads and processes. If a process dies during a write, its changes are
/// discarded and its lock is released.
///
/// ```swift
/// let environment = try Environment.open("/var/lib/notes")
/// let (key, value) = (Array("milk".utf8), Array("2 l".utf8))
/// var transaction = try environment.beginWrite()
/// let notes = try transaction.createDatabase("notes")
/// try transaction.put(value.span, for: key.span, in: notes)
/// try transaction.commit()
/// ```
public final class Environment: Sendable {
  let handle: EnvironmentHandle
  let gate: TransactionGate
  let identity: EnvironmentRegistry.Identity
  let pageSize: Int
  let descriptor: Int32
  let fileMode: UInt32
  /// The identity of the lock file; `nil` if none is used.
  let lockFile: EnvironmentRegistry.Identity?
  private let dataLock: DataFileLock?
  private let isInMemory: Bool
  /// The path of the data file if other programs find the file by it; `nil` for one without a name.
  private let sharedFile: String?
  private let clearedReaders: Atomic<Int>
  /// Whether a write has compared the commit number in the lock file with that in the data file.
  private let hasCheckedNumber = Atomic(false)

  /// The folder that holds `data.mdb` and `lock.mdb`; for an in-memory environment, a folder that
  /// no longer exists.
  public let path: String
  /// Whether the environment was opened read-only.
  ///
  /// False also if `isReadOnly` was requested but this process already had the environment open for
  /// writing.
  public let isReadOnly: Bool
  /// Whether the environment was opened as one that no process changes.
  public let isImmutable: Bool

  /// Opens the environment in the folder `path`, which must exist.
  ///
  /// Waits while a process replaces the data file.
  ///
  /// - Throws: ``LMDBError`` with ``LMDBError/Code/noSuchFile`` (the folder does not exist, or
  ///   contains no environment and `isReadOnly` is set), `accessDenied` (also if a file is a link,
  ///   a pipe, or another user's), `readOnlyFileSystem` (unless `isImmutable` is set), `busy` (this
  ///   process has it open read-only, or holds exclusive access to it; or other processes use
  ///   another lock file, because theirs was deleted or replaced), `invalid` (not an LMDB file),
  ///   `versionMismatch` (written by another version of LMDB), `corrupted` (a page failed the check
  ///   on opening), `noSpace`, or another system error.
  public static func open(
    _ path: String,
    options: EnvironmentOptions = EnvironmentOptions()
  ) throws(LMDBError) -> Environment {
    try EnvironmentRegistry.open(path, options: options)
  }

  /// Returns whether this process has the environment in the folder `path` open read-only, so that
  /// it cannot open it for writing.
  package static func isOpenReadOnly(_ path: String) -> Bool {
    EnvironmentRegistry.isReadOnly(path)
  }

  /// The processes that may use the files of an environment.
  enum Kind {
    /// Any process; the lock file coordinates them.
    case shared
    /// Processes that only read; nothing coordinates them.
    case immutable
    /// Only the caller, which holds exclusive access; LMDB takes no locks.
    case unlocked
    /// Only this environment; the files have no names and disappear with it.
    case inMemory
  }

  /// Creates an empty environment in memory, which vanishes with its last reference.
  ///
  /// It is not shared with other processes or other opens, and leaves no files behind once this
  /// call has returned, however the process ends. No commit waits for a disk, whatever its
  /// ``CommitSync``. The files are created in `/dev/shm` where it is available, otherwise in the
  /// folder for temporary files.
  ///
  /// ```swift
  /// let environment = try Environment.openInMemory()
  /// ```
  ///
  /// - Throws: ``LMDBError`` with `noSpace`, `accessDenied`, or another system error.
  public static func openInMemory(
    options: EnvironmentOptions = EnvironmentOptions()
  ) throws(LMDBError) -> Environment {
    var options = options
    options.isReadOnly = false
    EnvironmentFile.occupyStandardDescriptors()
    let folder = try EnvironmentFile.makeMemoryFolder()
    // LMDB keeps the files open, so their names can go.
    defer { EnvironmentFile.removeFolder(folder) }
    return try Environment(path: folder, options: options, kind: .inMemory)
  }

  init(
    path: String,
    options: EnvironmentOptions,
    kind: Kind = .shared
  ) throws(LMDBError) {
    self.path = path
    isImmutable = kind == .immutable
    isReadOnly = options.isReadOnly || isImmutable
    fileMode = options.fileMode
    isInMemory = kind == .inMemory
    sharedFile = kind == .shared ? absolutePath(path + "/data.mdb") : nil
    let opening = EnvironmentOpening(path: path, options: options, kind: kind)
    let opened = try opening.run()
    clearedReaders = Atomic(opened.clearedReaders)
    handle = opened.handle
    dataLock = opened.dataLock
    lockFile = opened.lockFile
    do throws(LMDBError) {
      descriptor = try environmentDescriptor(handle)
      identity = EnvironmentRegistry.Identity(try EnvironmentFile.status(of: descriptor))
      pageSize = Int(try environmentStatistics(handle).ms_psize)
      // A new in-memory file needs no check.
      if !isInMemory {
        let openingCheck = OpeningCheck(
          descriptor: descriptor,
          pageSize: pageSize,
          isReadOnly: isReadOnly,
          checksAlways: options.checksPages
        )
        try openingCheck.run(handle)
      }
    } catch {
      opened.close()
      throw error
    }
    gate = TransactionGate()
  }

  deinit {
    gate.drain()
    EnvironmentRegistry.close(identity, handle, dataLock)
  }

  /// Whether the name of the data file still stands for the file that is open.
  ///
  /// False once another program has moved, deleted or replaced the file or its folder. A replacement by
  /// this library waits until no program has the file open. Costs one `lstat`.
  package var isInPlace: Bool {
    guard let sharedFile else { return true }
    var status = stat()
    // A folder that cannot be searched any more says nothing about the file.
    guard lstat(sharedFile, &status) == 0 else { return errno != ENOENT && errno != ENOTDIR }
    return EnvironmentRegistry.Identity(status) == identity
  }

  // MARK: Transactions

  /// Begins a read transaction: a snapshot of the last commit, which lives as long as the returned
  /// value.
  ///
  /// Keep it short: pages freed by later commits cannot be reused while it is open, and the file
  /// grows. Costs about 100 ns. The corresponding C functions are `mdb_txn_begin` and
  /// `mdb_txn_renew`.
  ///
  /// - Throws: ``LMDBError`` with `readersFull`, `processIDInUse`, or `mapResized` (another process
  ///   enlarged the file, and open transactions of this process prevented remapping it for ten
  ///   seconds).
  public func beginRead() throws(LMDBError) -> ReadTransaction {
    let reader = try retryingAfterMapResize { () throws(LMDBError) -> PooledReader in
      let idle = gate.enterReader()
      do throws(LMDBError) {
        guard let idle else {
          return try beginNewRead()
        }
        do throws(LMDBError) {
          try idle.renew()
          return idle
        } catch {
          idle.abort()
          throw error
        }
      } catch {
        gate.leave()
        throw error
      }
    }
    return ReadTransaction(reader, environment: self)
  }

  private func beginNewRead() throws(LMDBError) -> PooledReader {
    do throws(LMDBError) {
      return try PooledReader(handle)
    } catch {
      guard error.code == .readersFull else { throw error }
      try clearStaleReaders()
      return try PooledReader(handle)
    }
  }

  /// Frees the reader slots of dead processes, and returns their number.
  ///
  /// Opening an environment does this too, and so does a write, at most every 30 seconds. The
  /// corresponding C function is `mdb_reader_check`.
  @discardableResult
  public func clearStaleReaders() throws(LMDBError) -> Int {
    let count = try environmentCheckReaders(handle)
    clearedReaders.add(count, ordering: .relaxed)
    return count
  }

  /// The number of slots of dead readers that this environment has freed so far.
  package var clearedReaderCount: Int { clearedReaders.load(ordering: .relaxed) }

  /// Begins a write transaction, after waiting for that of any other thread or process.
  ///
  /// Commit or drop the value on the calling thread. Dropping it without
  /// ``WriteTransaction/commit(_:)`` discards the changes. The corresponding C function is
  /// `mdb_txn_begin`.
  ///
  /// - Throws: ``LMDBError`` with `accessDenied` (opened read-only), `busy` (the lock file belongs to
  ///   another data file), `replaced` (the data file was moved, deleted or replaced), `wouldDeadlock`
  ///   (this thread already has a write transaction), `mapResized` as ``beginRead()``, or another system
  ///   error.
  public func beginWrite() throws(LMDBError) -> WriteTransaction {
    let transaction = try beginUncheckedWrite()
    guard isInPlace else { throw LMDBError(.replaced, operation: "mdb_txn_begin") }
    guard !hasCheckedNumber.load(ordering: .relaxed) else { return transaction }
    // Now no commit is under way, so the numbers must be equal.
    let last = try lastTransactionIDInFile()
    guard isInMemory || last == transaction.id &- 1 else {
      throw LMDBError(
        .busy,
        operation:
          "mdb_txn_begin: lock.mdb belongs to another data.mdb; end all programs that use it"
      )
    }
    hasCheckedNumber.store(true, ordering: .relaxed)
    return transaction
  }

  private func beginUncheckedWrite() throws(LMDBError) -> WriteTransaction {
    guard !isReadOnly else { throw LMDBError(.accessDenied, operation: "mdb_txn_begin") }
    try gate.claimWriter()
    do throws(LMDBError) {
      // The snapshot of a dead reader keeps pages from being reused.
      if gate.claimReaderCheck() { try clearStaleReaders() }
      let writer = try retryingAfterMapResize { () throws(LMDBError) -> OpenWriter in
        gate.enterWriter { growIfNeeded(wasFull: $0) }
        do throws(LMDBError) {
          return try OpenWriter(handle)
        } catch {
          gate.leave()
          throw error
        }
      }
      return WriteTransaction(writer, environment: self)
    } catch {
      gate.releaseWriter()
      throw error
    }
  }

  /// Makes all commits so far durable, including those with less than ``CommitSync/full``.
  ///
  /// Synced on return. Waits for the disk, but for no transaction. Closing an environment does not
  /// sync it. The corresponding C function is `mdb_env_sync`.
  ///
  /// - Throws: ``LMDBError`` with `accessDenied` (opened read-only), `noSpace` or `inputOutput`.
  public func sync() throws(LMDBError) {
    do throws(LMDBError) {
      try DurableFile.check(.sync(path + "/data.mdb"), "mdb_env_sync")
      try environmentSync(handle)
    } catch {
      throw handleWriteFailure(error)
    }
  }

  func flags(of sync: CommitSync) -> Int32 {
    isInMemory ? CommitSync.deferred.flags : sync.flags
  }

  /// Handles a failed write and returns the error to throw.
  ///
  /// A full map is enlarged before the next write.
  func handleWriteFailure(_ error: LMDBError) -> LMDBError {
    if error.code == .mapFull { gate.requestGrowth() }
    // LMDB reports a short write as `EIO`, also when the disk is full.
    if error.code == .inputOutput, EnvironmentFile.isDiskFull(under: descriptor) {
      return LMDBError(.noSpace, operation: error.operation)
    }
    return error
  }

  /// Sets the ``CheckedMark`` of the file after a commit, if the transaction changed it.
  func markCommit(_ transaction: UInt64, isSynced: Bool) {
    // A commit without changes gets no transaction number.
    guard !isInMemory, let last = try? lastTransactionID(), last >= transaction else { return }
    CheckedMark.set(
      descriptor,
      inode: identity.inode,
      transaction: transaction,
      isSynced: isSynced
    )
  }

  // MARK: The map

  /// Runs `begin`, and again after enlarging the map if another process has enlarged the file.
  func retryingAfterMapResize<R>(
    _ begin: () throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    var attempts = 10
    while true {
      do throws(LMDBError) {
        return try begin()
      } catch {
        guard error.code == .mapResized, attempts > 0 else { throw error }
        attempts -= 1
        // The map may move only while no transaction of this process is open.
        _ = gate.whenIdle(within: 1_000) { growIfNeeded(wasFull: false) }
      }
    }
  }

  /// Enlarges the map after a write found it full, or when more than three quarters of it are used.
  ///
  /// Runs inside the gate, while no transaction is open. If the system refuses a larger map, the
  /// current one stays, and a later write may find it full.
  private func growIfNeeded(wasFull: Bool) {
    guard let info = try? environmentInfo(handle) else { return }
    let used = (Int(info.lastPage) + 1) * pageSize
    let current = info.mapSize
    var size = wasFull ? current * 2 : current
    while used > size / 4 * 3 { size *= 2 }
    // LMDB unmaps the file before it maps it again. If the system refused the new size, no map
    // would be left.
    guard size > current, EnvironmentFile.canMap(descriptor, size: size) else { return }
    _ = try? environmentSetMapSize(handle, size)
  }
}
