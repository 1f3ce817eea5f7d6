internal import CLMDB

/// The single write transaction of an environment.
///
/// It sees its own writes; other transactions see them after ``commit(_:)``. It begins and ends on
/// one thread. Lend it as `inout`: the compiler then rejects an `await` while it is open, an
/// escape, and a write while a value is borrowed.
///
/// ```swift
/// var transaction: WriteTransaction = try environment.beginWrite()
/// try transaction.removeAll(in: drafts)
/// try transaction.nested { transaction in
///   try transaction.delete(oldKey.span, in: notes)
///   try transaction.put(value.span, for: newKey.span, in: notes)
/// }
/// try transaction.commit(.ordered)
/// ```
@safe
public struct WriteTransaction: Transaction, ~Copyable {
  /// The C handle of the transaction.
  @unsafe public let raw: OpaquePointer
  /// The environment that the transaction reads.
  public let environment: Environment
  private let isNested: Bool
  private var isEnded = false
  /// Whether the transaction has written anything; a commit without changes gets no transaction
  /// number.
  package private(set) var hasChanges = false

  init(_ writer: OpenWriter, environment: Environment, isNested: Bool = false) {
    unsafe raw = unsafe writer.raw
    self.environment = environment
    self.isNested = isNested
  }

  deinit {
    if !isEnded { unsafe transactionAbort(raw) }
    // Only the outermost transaction is registered with the gate.
    guard !isNested else { return }
    environment.gate.leave()
    environment.gate.releaseWriter()
  }

  /// Commits the writes: makes them visible, and as durable as `sync` says.
  ///
  /// A commit without changes syncs nothing, so it does not make earlier commits durable. The
  /// corresponding C function is `mdb_txn_commit`.
  ///
  /// - Throws: ``LMDBError`` with `noSpace`, `inputOutput` or `mapFull`; then the transaction is
  ///   aborted.
  public consuming func commit(_ sync: CommitSync = .full) throws(LMDBError) {
    do throws(LMDBError) {
      // LMDB stores these flags per environment, and reads them in `mdb_txn_commit`, while it holds
      // the write lock; the commit of a nested transaction does not read them. So each outermost
      // commit sets the flags while it holds the lock. They are not reset: `mdb_txn_commit`
      // releases the lock, so a reset could affect the next writer's commit.
      if !isNested {
        try environmentSetSyncFlags(environment.handle, environment.flags(of: sync))
      }
      // LMDB frees the handle even if the commit fails.
      isEnded = true
      let number = unsafe transactionID(raw)
      unsafe try transactionCommit(raw)
      if !isNested { environment.markCommit(number, isSynced: hasChanges && sync != .deferred) }
    } catch {
      throw environment.handleWriteFailure(error)
    }
  }

  /// Runs `body` in a nested transaction, whose writes join this transaction when `body` returns
  /// and are undone when it throws.
  ///
  /// Nothing becomes durable or visible to other transactions before this one commits. Transactions
  /// may nest to any depth. If `body` throws, the database handles that it opened are invalid.
  /// Costs about 2 µs, three megabytes of address space, and a copy of each page that both
  /// transactions change. The corresponding C functions are `mdb_txn_begin` with a parent and
  /// `mdb_txn_commit`.
  ///
  /// - Throws: The error that `body` throws; ``LMDBError`` with `badTransaction` if `body` returned
  ///   although one of its writes had failed; or `outOfMemory`. This transaction is then as it was
  ///   before the call.
  public mutating func nested<R>(
    _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    var child = try WriteTransaction(
      unsafe OpenWriter(environment.handle, parent: raw),
      environment: environment,
      isNested: true
    )
    let result = try body(&child)
    // If a failed nested transaction is committed, LMDB aborts the outer one too. This read fails
    // for such a transaction, and has no other effect.
    _ = try child.isEmpty()
    let hasChanged = child.hasChanges
    try child.commit()
    if hasChanged { hasChanges = true }
    return result
  }

  /// Opens the database `name`, and creates it if it does not exist.
  ///
  /// The corresponding C function is `mdb_dbi_open` with `MDB_CREATE`.
  ///
  /// - Throws: ``LMDBError`` with `databasesFull`, `mapFull`, or `incompatible` if the database has
  ///   another kind of keys.
  public mutating func createDatabase(
    _ name: String,
    keys: Database.Keys = .bytes
  ) throws(LMDBError) -> Database {
    do throws(LMDBError) {
      guard let database = try openDatabase(name, keys: keys, flags: MDB_CREATE) else {
        throw LMDBError(.notFound, operation: "mdb_dbi_open")
      }
      return database
    } catch {
      throw environment.handleWriteFailure(error)
    }
  }

  /// Sets the value of `key`, replacing an existing one.
  ///
  /// The corresponding C function is `mdb_put`.
  ///
  /// - Throws: ``LMDBError`` with `badValueSize` (the key is empty or longer than 511 bytes) or
  ///   `mapFull`. After `mapFull`, drop the transaction; the next one has a larger map.
  public mutating func put(
    _ value: Span<UInt8>,
    for key: Span<UInt8>,
    in database: Database
  ) throws(LMDBError) {
    let result = unsafe key.withUnsafeBytes { key in
      unsafe value.withUnsafeBytes { value in
        Result { () throws(LMDBError) in
          unsafe try put(value, for: key, in: database)
        }
      }
    }
    try result.get()
  }

  /// Sets the value of `key` to an empty value.
  ///
  /// The corresponding C function is `mdb_put`.
  ///
  /// - Throws: ``LMDBError`` as ``put(_:for:in:)``.
  public mutating func put(_ key: Span<UInt8>, in database: Database) throws(LMDBError) {
    let empty: [UInt8] = []
    try put(empty.span, for: key, in: database)
  }

  /// Removes `key`, and returns whether it existed.
  ///
  /// The corresponding C function is `mdb_del`.
  @discardableResult
  public mutating func delete(
    _ key: Span<UInt8>,
    in database: Database
  ) throws(LMDBError) -> Bool {
    let result = unsafe key.withUnsafeBytes { key in
      Result { () throws(LMDBError) in unsafe try delete(key, in: database) }
    }
    return try result.get()
  }

  /// Sets the value of a key of a database with integer keys.
  ///
  /// - Throws: ``LMDBError`` as ``put(_:for:in:)``.
  package mutating func put(
    _ value: Span<UInt8>,
    for key: UInt64,
    in database: Database
  ) throws(LMDBError) {
    let result = unsafe withUnsafeBytes(of: key) { key in
      unsafe value.withUnsafeBytes { value in
        Result { () throws(LMDBError) in unsafe try put(value, for: key, in: database) }
      }
    }
    try result.get()
  }

  /// Removes a key of a database with integer keys, and returns whether it existed.
  @discardableResult
  package mutating func delete(
    _ key: UInt64,
    in database: Database
  ) throws(LMDBError) -> Bool {
    let result = unsafe withUnsafeBytes(of: key) { key in
      Result { () throws(LMDBError) in unsafe try delete(key, in: database) }
    }
    return try result.get()
  }

  /// Removes all entries of a database, and the database itself if `andDatabase` is true.
  ///
  /// The corresponding C function is `mdb_drop`.
  public mutating func removeAll(
    in database: Database,
    andDatabase: Bool = false
  ) throws(LMDBError) {
    do throws(LMDBError) {
      unsafe try databaseDrop(raw, database.handle, delete: andDatabase)
      hasChanges = true
    } catch {
      throw environment.handleWriteFailure(error)
    }
  }

  // MARK: Raw bytes

  @unsafe
  package mutating func put(
    _ value: UnsafeRawBufferPointer,
    for key: UnsafeRawBufferPointer,
    in database: Database
  ) throws(LMDBError) {
    unsafe try WriteTransactionReference(self).put(value, for: key, in: database)
    hasChanges = true
  }

  /// Appends an entry, and returns whether it did: if `key` is not greater than every other key,
  /// nothing is written.
  ///
  /// Skips the search for the position of the key, which is about half the time of a put. The
  /// corresponding C function is `mdb_put` with `MDB_APPEND`.
  ///
  /// - Throws: ``LMDBError`` as ``put(_:for:in:)``.
  @unsafe
  package mutating func append(
    _ value: UnsafeRawBufferPointer,
    for key: UnsafeRawBufferPointer,
    in database: Database
  ) throws(LMDBError) -> Bool {
    let isLast = unsafe try WriteTransactionReference(self).append(value, for: key, in: database)
    if isLast { hasChanges = true }
    return isLast
  }

  @unsafe
  package mutating func delete(
    _ key: UnsafeRawBufferPointer,
    in database: Database
  ) throws(LMDBError) -> Bool {
    let wasThere = unsafe try WriteTransactionReference(self).delete(key, in: database)
    if wasThere { hasChanges = true }
    return wasThere
  }
}

/// A write transaction that has begun, and that a ``WriteTransaction`` will end.
@safe  // It holds a handle, which only the one `WriteTransaction` made of it uses.
struct OpenWriter {
  @unsafe fileprivate let raw: OpaquePointer

  /// Begins the outermost transaction.
  init(_ environment: EnvironmentHandle) throws(LMDBError) {
    unsafe raw = unsafe try transactionBegin(environment, flags: 0)
  }

  /// Begins a transaction in another one.
  @unsafe
  fileprivate init(_ environment: EnvironmentHandle, parent: OpaquePointer) throws(LMDBError) {
    unsafe raw = unsafe try transactionBegin(environment, parent: parent, flags: 0)
  }
}
