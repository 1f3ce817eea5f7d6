internal import CLMDB
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// An LMDB environment: one memory-mapped file that holds any number of databases.
///
/// Any number of processes may open the same folder; in one process every open of a folder gives
/// the same environment (POSIX drops a file's locks when any descriptor of it is closed, so a
/// second one would end the first one's). The environment closes when its last reference goes;
/// transactions hold one.
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

  /// The folder that holds `data.mdb` and `lock.mdb`.
  public let path: String
  /// Whether the environment was opened without the right to write.
  public let isReadOnly: Bool

  /// Opens the environment in the folder `path`, which must exist.
  ///
  /// - Throws: ``LMDBError`` with ``LMDBError/Code/noSuchFile`` (no such folder, or no file in it
  ///   and `isReadOnly`), `accessDenied`, `invalid` or `versionMismatch` (not a file of this LMDB
  ///   version), `noSpace`, or what else the system answers.
  public static func open(
    _ path: String,
    options: EnvironmentOptions = EnvironmentOptions()
  ) throws(LMDBError) -> Environment {
    try EnvironmentRegistry.open(path, options: options)
  }

  init(
    path: String,
    identity: EnvironmentRegistry.Identity,
    options: EnvironmentOptions
  ) throws(LMDBError) {
    self.path = path
    self.identity = identity
    self.isReadOnly = options.isReadOnly
    unsafe handle = try Self.openHandle(path: path, options: options)
    gate = TransactionGate()
    pageSize = unsafe Int((try? environmentStatistics(handle))?.ms_psize ?? 4_096)
  }

  deinit {
    unsafe gate.drain { unsafe transactionAbort($0) }
    unsafe EnvironmentRegistry.close(identity, handle)
  }

  /// Opens with the largest map that the system grants.
  private static func openHandle(
    path: String,
    options: EnvironmentOptions
  ) throws(LMDBError) -> OpaquePointer {
    var flags = MDB_NOTLS | MDB_NORDAHEAD
    if options.isReadOnly { flags |= MDB_RDONLY }
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
        unsafe try environmentOpen(handle, path: path, flags: flags, mode: options.fileMode)
        unsafe try environmentCheckReaders(handle)
        unsafe try coverWholeFile(handle, path: path, isReadOnly: options.isReadOnly)
        return unsafe handle
      } catch {
        unsafe environmentClose(handle)
        guard error.code == .outOfMemory, mapSize > Self.smallestMap else { throw error }
        mapSize /= 2
      }
    }
  }

  private static let smallestMap = 64 << 20

  /// Makes a file that was cut short as long as its last page says, so that reading the lost part
  /// gives ``LMDBError/Code/corrupted`` instead of a bus error that ends the process.
  private static func coverWholeFile(
    _ handle: OpaquePointer,
    path: String,
    isReadOnly: Bool
  ) throws(LMDBError) {
    let info = unsafe try environmentInfo(handle)
    let page = unsafe try environmentStatistics(handle).ms_psize
    let needed = unsafe (Int64(info.me_last_pgno) + 1) * Int64(page)
    let file = path + "/data.mdb"
    var status = stat()
    guard unsafe stat(file, &status) == 0, Int64(status.st_size) < needed else { return }
    guard !isReadOnly, unsafe truncate(file, off_t(needed)) == 0 else {
      throw LMDBError(.corrupted, operation: "the file is shorter than its last page")
    }
  }

  // MARK: Transactions

  /// Begins a read transaction: a snapshot of the last commit, until the value goes.
  ///
  /// Keep it short: while it lives, pages freed by later commits cannot be reused and the file
  /// grows. Costs about 100 ns. The corresponding C functions are `mdb_txn_begin` and
  /// `mdb_txn_renew`.
  ///
  /// - Throws: ``LMDBError`` with `readersFull`, or `mapResized` when another process enlarged the
  ///   file and readers of this process did not end for ten seconds.
  public func beginRead() throws(LMDBError) -> ReadTransaction {
    let raw = unsafe try adoptingForeignGrowth { () throws(LMDBError) -> OpaquePointer in
      if let idle = unsafe gate.enterReader() {
        do throws(LMDBError) {
          unsafe try transactionRenew(idle)
          return unsafe idle
        } catch {
          unsafe transactionAbort(idle)
          gate.leave()
          throw error
        }
      }
      do throws(LMDBError) {
        return unsafe try transactionBegin(handle, flags: MDB_RDONLY)
      } catch {
        gate.leave()
        throw error
      }
    }
    return unsafe ReadTransaction(raw: raw, environment: self)
  }

  /// Begins the write transaction, after waiting for the one of any other thread or process.
  ///
  /// The value must be committed or dropped on the thread that called; dropping it without
  /// ``WriteTransaction/commit()`` undoes it. The corresponding C function is `mdb_txn_begin`.
  ///
  /// - Throws: ``LMDBError`` with `accessDenied` (opened read-only), `wouldDeadlock` (this thread
  ///   has a write transaction), or what the system answers.
  public func beginWrite() throws(LMDBError) -> WriteTransaction {
    guard !isReadOnly else { throw LMDBError(.accessDenied, operation: "mdb_txn_begin") }
    try gate.claimWriter()
    do throws(LMDBError) {
      let raw = unsafe try adoptingForeignGrowth { () throws(LMDBError) -> OpaquePointer in
        try gate.enterWriter(growing: growIfNeeded)
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

  /// Runs `begin` again after enlarging our map when another process has enlarged the file.
  private func adoptingForeignGrowth(
    _ begin: () throws(LMDBError) -> OpaquePointer
  ) throws(LMDBError) -> OpaquePointer {
    for _ in 0..<10_000 {
      do throws(LMDBError) {
        return unsafe try begin()
      } catch {
        guard error.code == .mapResized else { throw error }
        let isDone = try gate.whenIdle { () throws(LMDBError) in
          unsafe try environmentSetMapSize(handle, 0)
        }
        // The map can only move when no transaction of this process looks at it.
        if !isDone { usleep(1_000) }
      }
    }
    throw LMDBError(.mapResized, operation: "mdb_txn_begin")
  }

  /// Doubles the map when a write found it full, or once three quarters of it are used.
  private func growIfNeeded(_ wasFull: Bool) throws(LMDBError) {
    let info = unsafe try environmentInfo(handle)
    let used = unsafe (info.me_last_pgno + 1) * pageSize
    guard unsafe wasFull || used > info.me_mapsize / 4 * 3 else { return }
    unsafe try environmentSetMapSize(handle, info.me_mapsize * 2)
  }

  // MARK: Facts

  /// The number of the last committed transaction; it changes with every commit of any process.
  ///
  /// Reads shared memory alone and costs some tens of nanoseconds. The corresponding C function is
  /// `mdb_env_info`.
  public func lastTransactionID() throws(LMDBError) -> UInt64 {
    unsafe UInt64(try environmentInfo(handle).me_last_txnid)
  }

  /// Sizes and reader counts as they are now.
  public func statistics() throws(LMDBError) -> EnvironmentStatistics {
    let info = unsafe try environmentInfo(handle)
    return unsafe EnvironmentStatistics(
      mapSize: info.me_mapsize,
      usedSize: (info.me_last_pgno + 1) * pageSize,
      pageSize: pageSize,
      lastTransactionID: UInt64(info.me_last_txnid),
      readers: Int(info.me_numreaders),
      maximumReaders: Int(info.me_maxreaders)
    )
  }

  /// Frees the slots of readers whose process is gone, and returns how many there were.
  ///
  /// Done at each open too. The corresponding C function is `mdb_reader_check`.
  @discardableResult
  public func clearStaleReaders() throws(LMDBError) -> Int {
    unsafe try environmentCheckReaders(handle)
  }
}
