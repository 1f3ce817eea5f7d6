internal import CLMDB

/// What read and write transactions have in common: reading.
///
/// Memory lent by a transaction is valid until the closure that it is lent to returns.
public protocol Transaction: ~Copyable {
  /// The C handle of the transaction.
  @unsafe var raw: OpaquePointer { get }
  /// The environment that the transaction reads.
  var environment: Environment { get }
}

extension Transaction where Self: ~Copyable {
  /// The number of the snapshot that is read; in a write transaction, the one that it will make.
  ///
  /// The corresponding C function is `mdb_txn_id`.
  public var id: UInt64 { unsafe transactionID(raw) }

  /// Calls `body` with the value of `key`, or with `nil` when there is none.
  ///
  /// The span points into the map: nothing is copied. The corresponding C function is `mdb_get`.
  ///
  /// - Throws: ``LMDBError``, or what `body` throws.
  /// - Complexity: O(log n) in the entries of `database`.
  public borrowing func withValue<R>(
    for key: Span<UInt8>,
    in database: Database,
    _ body: (Span<UInt8>?) throws -> R
  ) throws -> R {
    unsafe try key.withUnsafeBytes { key in
      guard let value = unsafe try value(for: key, in: database) else { return try body(nil) }
      return try body(unsafe value.bindMemory(to: UInt8.self).span)
    }
  }

  /// The value of `key`, in the map: valid until the transaction ends or writes.
  @unsafe
  @inline(__always)
  package borrowing func value(
    for key: UnsafeRawBufferPointer,
    in database: Database
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    assert(database.environment == environment.identity)
    return unsafe try databaseGet(raw, database.handle, key)
  }

  /// Opens the database `name`; `nil` when there is none of that name and this transaction may not
  /// make it.
  ///
  /// One transaction of the process may open databases at a time. A handle opened by a
  /// transaction that is undone is not valid afterwards. The corresponding C function is
  /// `mdb_dbi_open`.
  ///
  /// - Throws: ``LMDBError`` with `databasesFull`, or `incompatible` when the database has other
  ///   keys.
  package borrowing func openDatabase(
    _ name: String,
    keys: Database.Keys,
    flags: Int32
  ) throws(LMDBError) -> Database? {
    let keyFlags = keys == .integers ? MDB_INTEGERKEY : 0
    guard let handle = unsafe try databaseOpen(raw, name: name, flags: keyFlags | flags) else {
      return nil
    }
    // LMDB takes the flags of the database that is there, whatever it is asked for.
    guard unsafe try databaseFlags(raw, handle) & MDB_INTEGERKEY == keyFlags else {
      throw LMDBError(.incompatible, operation: "mdb_dbi_open")
    }
    return Database(handle: handle, name: name, environment: environment.identity)
  }

  /// Opens the existing database `name`, or returns `nil`.
  public borrowing func openDatabase(
    _ name: String,
    keys: Database.Keys = .bytes
  ) throws(LMDBError) -> Database? {
    try openDatabase(name, keys: keys, flags: 0)
  }

  /// How many entries the database has.
  ///
  /// Costs O(1). The corresponding C function is `mdb_stat`.
  public borrowing func count(of database: Database) throws(LMDBError) -> Int {
    unsafe Int(try databaseStatistics(raw, database.handle).ms_entries)
  }

  /// The sizes of a database.
  ///
  /// Costs O(1). The corresponding C function is `mdb_stat`.
  public borrowing func statistics(
    of database: Database
  ) throws(LMDBError) -> DatabaseStatistics {
    DatabaseStatistics(unsafe try databaseStatistics(raw, database.handle))
  }

  /// Whether the environment has neither named databases nor anything else.
  package borrowing func isEmpty() throws(LMDBError) -> Bool {
    let mainDatabase: MDB_dbi = 1
    return unsafe try databaseStatistics(raw, mainDatabase).ms_entries == 0
  }

  /// A cursor over `database`, for as long as this transaction lives.
  @unsafe
  package borrowing func cursor(on database: Database) throws(LMDBError) -> Cursor {
    unsafe Cursor(raw: try cursorOpen(raw, database.handle))
  }
}
