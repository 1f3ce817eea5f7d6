internal import CLMDB

/// The one write transaction: it sees its own writes, and nobody else does before
/// ``commit(_:)``.
///
/// It begins and ends on one thread. Lend it `inout`: then the compiler refuses an `await` while it
/// is open, an escape, and a write while a value is borrowed.
@safe
public struct WriteTransaction: Transaction, ~Copyable {
  /// The C handle of the transaction.
  @unsafe public let raw: OpaquePointer
  /// The environment that the transaction reads.
  public let environment: Environment
  private let isNested: Bool
  private var isEnded = false
  /// Whether anything was written so far; LMDB gives no number to a commit without changes.
  package private(set) var hasChanges = false

  init(raw: OpaquePointer, environment: Environment, isNested: Bool = false) {
    unsafe self.raw = unsafe raw
    self.environment = environment
    self.isNested = isNested
  }

  deinit {
    if !isEnded { unsafe transactionAbort(raw) }
    // The outermost transaction alone was counted in.
    guard !isNested else { return }
    environment.gate.leave()
    environment.gate.releaseWriter()
  }

  /// Makes the writes visible, and as durable as asked for.
  ///
  /// A commit that changes nothing syncs nothing: it does not make earlier ones durable. The
  /// corresponding C function is `mdb_txn_commit`.
  ///
  /// - Throws: ``LMDBError`` with `noSpace`, `inputOutput` or `mapFull`; then nothing was written.
  public consuming func commit(_ sync: CommitSync = .full) throws(LMDBError) {
    do throws(LMDBError) {
      // LMDB keeps these flags per environment and reads them in `mdb_txn_commit` alone, where it
      // still has the lock of the write transaction; a nested one does not get that far. So each
      // commit sets them under that lock, and no other can come between. They are not set back:
      // `mdb_txn_commit` gives the lock up, so that would hit the commit of the next writer.
      if !isNested {
        unsafe try environmentSetSyncFlags(environment.handle, environment.flags(of: sync))
      }
      // LMDB frees the handle whether it succeeds or not.
      isEnded = true
      let number = unsafe transactionID(raw)
      unsafe try transactionCommit(raw)
      if !isNested { environment.markCommit(number, isSynced: hasChanges && sync != .deferred) }
    } catch {
      throw environment.examined(error)
    }
  }

  /// Runs `body` in a transaction inside this one: what it writes joins this one when it returns, and
  /// is undone alone when it throws.
  ///
  /// Nothing is durable or visible to others before this transaction is committed. It may nest to
  /// any depth. A handle that a `body` made is not valid after it threw. Costs about 2 µs, three
  /// megabytes of address space, and a copy of each page that both transactions change. The
  /// corresponding C functions are `mdb_txn_begin` with a parent and `mdb_txn_commit`.
  ///
  /// - Throws: what `body` throws; ``LMDBError`` with `badTransaction` when it returned although a
  ///   write of it had failed; or `outOfMemory`. This transaction then stands as it was before.
  public mutating func nested<R>(
    _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    var child = unsafe WriteTransaction(
      raw: try transactionBegin(environment.handle, parent: raw, flags: 0),
      environment: environment,
      isNested: true
    )
    let result = try body(&child)
    // LMDB gives the outer transaction up too when one that failed is committed; this call fails
    // for such a one and changes nothing.
    _ = try child.isEmpty()
    let hasChanged = child.hasChanges
    try child.commit()
    if hasChanged { hasChanges = true }
    return result
  }

  /// Opens the database `name`, and makes it when there is none.
  ///
  /// - Throws: ``LMDBError`` with `databasesFull`, or `incompatible` when the database has other
  ///   keys.
  public mutating func makeDatabase(
    _ name: String,
    keys: Database.Keys = .bytes
  ) throws(LMDBError) -> Database {
    do throws(LMDBError) {
      guard let database = try openDatabase(name, keys: keys, flags: MDB_CREATE) else {
        throw LMDBError(.notFound, operation: "mdb_dbi_open")
      }
      return database
    } catch {
      throw environment.examined(error)
    }
  }

  /// Sets the value of `key`, replacing one that is there.
  ///
  /// The corresponding C function is `mdb_put`.
  ///
  /// - Throws: ``LMDBError`` with `badValueSize` (an empty key, or one of more than 511 bytes) or
  ///   `mapFull`; then give the transaction up.
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

  /// Adds `key` with an empty value.
  ///
  /// The corresponding C function is `mdb_put`.
  ///
  /// - Throws: ``LMDBError`` as ``put(_:for:in:)``.
  public mutating func put(_ key: Span<UInt8>, in database: Database) throws(LMDBError) {
    let empty: [UInt8] = []
    try put(empty.span, for: key, in: database)
  }

  /// Removes `key`; says whether it was there.
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

  /// Removes every entry of the database, and the database too if `andDatabase`.
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
      throw environment.examined(error)
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

  /// Adds `key` after every other; says whether it is greater than the last one, without which
  /// nothing is written.
  ///
  /// Spares the search for the place of the key, about half the time of a put. The corresponding C
  /// function is `mdb_put` with `MDB_APPEND`.
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
