internal import CLMDB

/// The handle of the database that describes the named ones.
let mainDatabase: MDB_dbi = 1

/// The operations that read and write transactions share: reads.
///
/// Memory that a transaction lends to a closure is valid until the closure returns.
///
/// ```swift
/// func noteCount(_ transaction: borrowing some Transaction & ~Copyable) throws -> Int {
///   guard let notes = try transaction.openDatabase("notes") else { return 0 }
///   return try transaction.count(of: notes)
/// }
/// ```
public protocol Transaction: ~Copyable {
  /// The C handle of the transaction.
  @unsafe var raw: OpaquePointer { get }
  /// The environment that the transaction reads.
  var environment: Environment { get }
}

extension Transaction where Self: ~Copyable {
  /// The number of the snapshot being read; in a write transaction, the number that its commit will
  /// get.
  ///
  /// The corresponding C function is `mdb_txn_id`.
  public var id: UInt64 { unsafe transactionID(raw) }

  /// Calls `body` with the value of `key`, or with `nil` if the key does not exist.
  ///
  /// The span points into the map; nothing is copied. The corresponding C function is `mdb_get`.
  ///
  /// ```swift
  /// let text = try transaction.withValue(for: key.span, in: notes) { value in
  ///   guard let value else { return "" }
  ///   return String(decoding: value.indices.map { value[$0] }, as: UTF8.self)
  /// }
  /// ```
  ///
  /// - Throws: ``LMDBError``, or the error that `body` throws.
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

  /// Calls `body` with the value of a key of a database with integer keys, or with `nil` if the key
  /// does not exist; see ``withValue(for:in:_:)``.
  package borrowing func withValue<R>(
    of key: UInt64,
    in database: Database,
    _ body: (RawSpan?) throws -> R
  ) throws -> R {
    try unsafe withUnsafeBytes(of: key) { key in
      guard let value = unsafe try value(for: key, in: database) else { return try body(nil) }
      return try body(unsafe value.bytes)
    }
  }

  /// Returns the value of `key`, in the map: valid until the transaction ends or writes.
  @unsafe
  @inline(__always)
  package borrowing func value(
    for key: UnsafeRawBufferPointer,
    in database: Database
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    assert(database.environment == environment.identity)
    return unsafe try databaseGet(raw, database.handle, key)
  }

  /// Opens the database `name`, or returns `nil` if it does not exist and `flags` do not ask to
  /// create it.
  ///
  /// Only one transaction of the process may open databases at a time. If the transaction is
  /// aborted, a handle that it opened becomes invalid. The corresponding C function is
  /// `mdb_dbi_open`.
  ///
  /// - Throws: ``LMDBError`` with `databasesFull`, or `incompatible` if the database has another
  ///   kind of keys.
  package borrowing func openDatabase(
    _ name: String,
    keys: Database.Keys,
    flags: Int32
  ) throws(LMDBError) -> Database? {
    let keyFlags = keys == .integers ? MDB_INTEGERKEY : 0
    guard let handle = unsafe try databaseOpen(raw, name: name, flags: keyFlags | flags) else {
      return nil
    }
    // LMDB ignores the requested flags if the database exists, so compare them.
    guard unsafe try databaseFlags(raw, handle) & MDB_INTEGERKEY == keyFlags else {
      throw LMDBError(.incompatible, operation: "mdb_dbi_open")
    }
    return Database(handle: handle, name: name, environment: environment.identity)
  }

  /// Opens the database `name`, or returns `nil` if it does not exist.
  ///
  /// Only one transaction of the process may open databases at a time. The corresponding C function
  /// is `mdb_dbi_open`.
  ///
  /// - Throws: ``LMDBError`` with `databasesFull`, or `incompatible` if the database has another
  ///   kind of keys.
  public borrowing func openDatabase(
    _ name: String,
    keys: Database.Keys = .bytes
  ) throws(LMDBError) -> Database? {
    try openDatabase(name, keys: keys, flags: 0)
  }

  /// Returns the number of entries of a database.
  ///
  /// Costs O(1). The corresponding C function is `mdb_stat`.
  public borrowing func count(of database: Database) throws(LMDBError) -> Int {
    unsafe Int(try databaseStatistics(raw, database.handle).ms_entries)
  }

  /// Returns the size of a database.
  ///
  /// Costs O(1). The corresponding C function is `mdb_stat`.
  public borrowing func statistics(
    of database: Database
  ) throws(LMDBError) -> DatabaseStatistics {
    DatabaseStatistics(unsafe try databaseStatistics(raw, database.handle))
  }

  /// Returns whether the environment contains no named databases and no other entries.
  package borrowing func isEmpty() throws(LMDBError) -> Bool {
    unsafe try databaseStatistics(raw, mainDatabase).ms_entries == 0
  }

  /// Creates a cursor on `database`, which must not outlive this transaction.
  @unsafe
  package borrowing func cursor(on database: Database) throws(LMDBError) -> Cursor {
    unsafe Cursor(raw: try cursorOpen(raw, database.handle))
  }
}
