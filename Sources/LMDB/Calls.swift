// All calls of the C library are in this file, and each checks its result, so that no caller can
// ignore one.
internal import CLMDB

@inline(__always)
func check(_ code: Int32, _ operation: StaticString) throws(LMDBError) {
  guard code == MDB_SUCCESS else { throw failure(code, operation) }
}

/// Returns whether the call found something.
///
/// Above this file, a missing key or database is not an error.
@inline(__always)
func found(_ code: Int32, _ operation: StaticString) throws(LMDBError) -> Bool {
  if code == MDB_SUCCESS { return true }
  if code == MDB_NOTFOUND { return false }
  throw failure(code, operation)
}

@inline(never)
private func failure(_ code: Int32, _ operation: StaticString) -> LMDBError {
  LMDBError(LMDBError.Code(rawValue: code), operation: "\(operation)")
}

extension MDB_val {
  /// Wraps `bytes` for the C library, which never writes through the keys and values it is given.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(
      mv_size: bytes.count,
      mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress)
    )
  }

  @inline(__always)
  var bytes: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size)
  }
}

/// Returns LMDB's message for a return code.
func errorText(_ code: Int32) -> String? {
  unsafe mdb_strerror(code).map { unsafe String(cString: $0) }
}

// MARK: Environment

/// An open handle of an environment; using it after ``environmentClose(_:)`` ends the process.
// LMDB synchronizes access to the handle. It is reassigned once, by `environmentClose`, after which
// no thread may use it.
@safe
final class EnvironmentHandle: @unchecked Sendable {
  private var handle: OpaquePointer?

  fileprivate init(_ handle: OpaquePointer) { unsafe self.handle = unsafe handle }

  /// The handle of the C library, for the calls in this file.
  @unsafe
  @inline(__always)
  var raw: OpaquePointer {
    guard let handle = unsafe handle else { preconditionFailure("the environment is closed") }
    return unsafe handle
  }

  @unsafe
  fileprivate func take() -> OpaquePointer {
    defer { unsafe handle = nil }
    return unsafe raw
  }
}

func environmentPath(_ environment: OpaquePointer) -> String? {
  var path: UnsafePointer<CChar>?
  guard unsafe mdb_env_get_path(environment, &path) == MDB_SUCCESS else { return nil }
  return unsafe path.map { unsafe String(cString: $0) }
}

func environmentCreate() throws(LMDBError) -> EnvironmentHandle {
  var handle: OpaquePointer?
  unsafe try check(mdb_env_create(&handle), "mdb_env_create")
  guard let handle = unsafe handle else {
    throw LMDBError(.outOfMemory, operation: "mdb_env_create")
  }
  return unsafe EnvironmentHandle(handle)
}

func environmentOpen(
  _ environment: EnvironmentHandle,
  path: String,
  flags: Int32,
  mode: UInt32
) throws(LMDBError) {
  let code = unsafe mdb_env_open(environment.raw, path, UInt32(bitPattern: flags), mdb_mode_t(mode))
  try check(code, "mdb_env_open")
}

func environmentClose(_ environment: EnvironmentHandle) {
  unsafe mdb_env_close(environment.take())
}

func environmentSetLimits(
  _ environment: EnvironmentHandle,
  mapSize: Int,
  readers: UInt32,
  databases: UInt32
) throws(LMDBError) {
  unsafe try check(mdb_env_set_mapsize(environment.raw, mapSize), "mdb_env_set_mapsize")
  unsafe try check(mdb_env_set_maxreaders(environment.raw, readers), "mdb_env_set_maxreaders")
  unsafe try check(mdb_env_set_maxdbs(environment.raw, databases), "mdb_env_set_maxdbs")
}

/// Returns the descriptor of the data file.
func environmentDescriptor(_ environment: EnvironmentHandle) throws(LMDBError) -> Int32 {
  var descriptor: mdb_filehandle_t = -1
  unsafe try check(mdb_env_get_fd(environment.raw, &descriptor), "mdb_env_get_fd")
  return descriptor
}

func environmentSetMapSize(_ environment: EnvironmentHandle, _ size: Int) throws(LMDBError) {
  unsafe try check(mdb_env_set_mapsize(environment.raw, size), "mdb_env_set_mapsize")
}

/// The part of `MDB_envinfo` that has no pointer.
struct EnvironmentInfo {
  let mapSize: Int
  let lastPage: UInt64
  let lastTransaction: UInt64
  let readers: Int
  let maximumReaders: Int
}

@inline(__always)
func environmentInfo(_ environment: EnvironmentHandle) throws(LMDBError) -> EnvironmentInfo {
  var info = unsafe MDB_envinfo()
  unsafe try check(mdb_env_info(environment.raw, &info), "mdb_env_info")
  return unsafe EnvironmentInfo(
    mapSize: info.me_mapsize,
    lastPage: UInt64(info.me_last_pgno),
    lastTransaction: UInt64(UInt(bitPattern: info.me_last_txnid)),
    readers: Int(info.me_numreaders),
    maximumReaders: Int(info.me_maxreaders)
  )
}

func environmentStatistics(_ environment: EnvironmentHandle) throws(LMDBError) -> MDB_stat {
  var statistics = MDB_stat()
  unsafe try check(mdb_env_stat(environment.raw, &statistics), "mdb_env_stat")
  return statistics
}

/// Selects the syncs that the next commit omits: `MDB_NOSYNC`, `MDB_NOMETASYNC` or 0 for none.
///
/// Not atomic: call it only on the thread that holds the write transaction.
func environmentSetSyncFlags(_ environment: EnvironmentHandle, _ flags: Int32) throws(LMDBError) {
  let all = UInt32(bitPattern: MDB_NOSYNC | MDB_NOMETASYNC)
  unsafe try check(mdb_env_set_flags(environment.raw, all, 0), "mdb_env_set_flags")
  let code = unsafe mdb_env_set_flags(environment.raw, UInt32(bitPattern: flags), 1)
  try check(code, "mdb_env_set_flags")
}

/// Syncs the file even if its flags say not to.
func environmentSync(_ environment: EnvironmentHandle) throws(LMDBError) {
  unsafe try check(mdb_env_sync(environment.raw, 1), "mdb_env_sync")
}

func environmentCopy(
  _ environment: EnvironmentHandle,
  _ descriptor: Int32,
  compacting: Bool
) throws(LMDBError) {
  let flags = compacting ? UInt32(MDB_CP_COMPACT) : 0
  unsafe try check(mdb_env_copyfd2(environment.raw, descriptor, flags), "mdb_env_copyfd2")
}

/// Calls `body` with each line of LMDB's list of readers.
func environmentListReaders(
  _ environment: EnvironmentHandle,
  _ body: (String) -> Void
) {
  withoutActuallyEscaping(body) { body in
    var body = body
    // The result is that of the callback, which is always 0.
    _ = unsafe withUnsafeMutablePointer(to: &body) { context in
      unsafe mdb_reader_list(
        environment.raw,
        { line, context in
          let body = unsafe context?.assumingMemoryBound(to: ((String) -> Void).self)
          if let line = unsafe line { unsafe body?.pointee(String(cString: line)) }
          return 0
        },
        context
      )
    }
  }
}

/// Frees the reader slots of dead processes, and returns their number.
@discardableResult
func environmentCheckReaders(_ environment: EnvironmentHandle) throws(LMDBError) -> Int {
  var dead: Int32 = 0
  unsafe try check(mdb_reader_check(environment.raw, &dead), "mdb_reader_check")
  return Int(dead)
}

// MARK: Transactions

func transactionBegin(
  _ environment: EnvironmentHandle,
  parent: OpaquePointer? = nil,
  flags: Int32
) throws(LMDBError) -> OpaquePointer {
  var handle: OpaquePointer?
  unsafe try check(
    mdb_txn_begin(environment.raw, parent, UInt32(bitPattern: flags), &handle),
    "mdb_txn_begin"
  )
  guard let handle = unsafe handle else {
    throw LMDBError(.outOfMemory, operation: "mdb_txn_begin")
  }
  return unsafe handle
}

/// Runs `body` with the number of a transaction that is open during the call, and aborts it.
func withTransaction<R>(
  _ environment: EnvironmentHandle,
  flags: Int32,
  _ body: (_ number: UInt64) throws(LMDBError) -> R
) throws(LMDBError) -> R {
  let transaction = unsafe try transactionBegin(environment, flags: flags)
  defer { unsafe transactionAbort(transaction) }
  return try body(unsafe transactionID(transaction))
}

func transactionCommit(_ transaction: OpaquePointer) throws(LMDBError) {
  unsafe try check(mdb_txn_commit(transaction), "mdb_txn_commit")
}

func transactionAbort(_ transaction: OpaquePointer) {
  unsafe mdb_txn_abort(transaction)
}

func transactionReset(_ transaction: OpaquePointer) {
  unsafe mdb_txn_reset(transaction)
}

func transactionRenew(_ transaction: OpaquePointer) throws(LMDBError) {
  unsafe try check(mdb_txn_renew(transaction), "mdb_txn_renew")
}

func transactionID(_ transaction: OpaquePointer) -> UInt64 {
  unsafe UInt64(UInt(bitPattern: mdb_txn_id(transaction)))
}

// MARK: Databases

/// Opens a database; returns `nil` if it does not exist and `flags` do not contain `MDB_CREATE`.
func databaseOpen(
  _ transaction: OpaquePointer,
  name: String,
  flags: Int32
) throws(LMDBError) -> MDB_dbi? {
  var handle: MDB_dbi = 0
  let code = unsafe mdb_dbi_open(transaction, name, UInt32(bitPattern: flags), &handle)
  return try found(code, "mdb_dbi_open") ? handle : nil
}

func databaseFlags(
  _ transaction: OpaquePointer,
  _ database: MDB_dbi
) throws(LMDBError) -> Int32 {
  var flags: UInt32 = 0
  unsafe try check(mdb_dbi_flags(transaction, database, &flags), "mdb_dbi_flags")
  return Int32(bitPattern: flags)
}

func databaseStatistics(
  _ transaction: OpaquePointer,
  _ database: MDB_dbi
) throws(LMDBError) -> MDB_stat {
  var statistics = MDB_stat()
  unsafe try check(mdb_stat(transaction, database, &statistics), "mdb_stat")
  return statistics
}

func databaseDrop(
  _ transaction: OpaquePointer,
  _ database: MDB_dbi,
  delete: Bool
) throws(LMDBError) {
  unsafe try check(mdb_drop(transaction, database, delete ? 1 : 0), "mdb_drop")
}

@inline(__always)
func databaseGet(
  _ transaction: OpaquePointer,
  _ database: MDB_dbi,
  _ key: UnsafeRawBufferPointer
) throws(LMDBError) -> UnsafeRawBufferPointer? {
  var key = unsafe MDB_val(key)
  var value = unsafe MDB_val()
  guard unsafe try found(mdb_get(transaction, database, &key, &value), "mdb_get") else {
    return nil
  }
  return unsafe value.bytes
}

/// Puts an entry.
///
/// Returns false if `MDB_NOOVERWRITE` is set and the key exists, or if `MDB_APPEND` is set and the
/// key is not greater than every other key.
@inline(__always)
func databasePut(
  _ transaction: OpaquePointer,
  _ database: MDB_dbi,
  _ key: UnsafeRawBufferPointer,
  _ value: UnsafeRawBufferPointer,
  flags: Int32
) throws(LMDBError) -> Bool {
  var key = unsafe MDB_val(key)
  var value = unsafe MDB_val(value)
  let code = unsafe mdb_put(transaction, database, &key, &value, UInt32(bitPattern: flags))
  if code == MDB_KEYEXIST { return false }
  try check(code, "mdb_put")
  return true
}

/// Deletes a key; returns false if it did not exist.
@inline(__always)
func databaseDelete(
  _ transaction: OpaquePointer,
  _ database: MDB_dbi,
  _ key: UnsafeRawBufferPointer
) throws(LMDBError) -> Bool {
  var key = unsafe MDB_val(key)
  return unsafe try found(mdb_del(transaction, database, &key, nil), "mdb_del")
}

// MARK: Cursors

func cursorOpen(
  _ transaction: OpaquePointer,
  _ database: MDB_dbi
) throws(LMDBError) -> OpaquePointer {
  var handle: OpaquePointer?
  unsafe try check(mdb_cursor_open(transaction, database, &handle), "mdb_cursor_open")
  guard let handle = unsafe handle else {
    throw LMDBError(.outOfMemory, operation: "mdb_cursor_open")
  }
  return unsafe handle
}

func cursorClose(_ cursor: OpaquePointer) {
  unsafe mdb_cursor_close(cursor)
}

@inline(__always)
func cursorGet(
  _ cursor: OpaquePointer,
  key: inout MDB_val,
  value: inout MDB_val,
  _ operation: MDB_cursor_op
) throws(LMDBError) -> Bool {
  unsafe try found(mdb_cursor_get(cursor, &key, &value, operation), "mdb_cursor_get")
}

/// Puts an entry at the cursor.
///
/// Returns false if `MDB_APPEND` is set and the key is not greater than every other key.
@inline(__always)
func cursorPut(
  _ cursor: OpaquePointer,
  _ key: UnsafeRawBufferPointer,
  _ value: UnsafeRawBufferPointer,
  flags: Int32
) throws(LMDBError) -> Bool {
  var key = unsafe MDB_val(key)
  var value = unsafe MDB_val(value)
  let code = unsafe mdb_cursor_put(cursor, &key, &value, UInt32(bitPattern: flags))
  if code == MDB_KEYEXIST { return false }
  try check(code, "mdb_cursor_put")
  return true
}

// MARK: Assertions

func environmentReportAssertions(_ environment: EnvironmentHandle) throws(LMDBError) {
  let code = unsafe mdb_env_set_assert(environment.raw) { environment, message in
    FailedAssertion.report(
      path: unsafe environment.flatMap { unsafe environmentPath($0) },
      message: unsafe message.map { unsafe String(cString: $0) }
    )
  }
  try check(code, "mdb_env_set_assert")
}

/// The number of the linked LMDB (`mdb_version`).
func libraryVersion() -> (major: Int32, minor: Int32, patch: Int32) {
  var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
  _ = unsafe mdb_version(&major, &minor, &patch)
  return (major, minor, patch)
}
