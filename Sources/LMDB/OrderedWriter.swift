internal import CLMDB

/// Writes entries into one database, in the order of its keys.
///
/// One cursor goes from entry to entry: what comes after every other is appended without a search,
/// and what lies on the page of the entry before it is found there.
///
/// Unsafe to use after its transaction ended, and after another write of the same database.
@unsafe
package struct OrderedWriter: ~Copyable {
  private let transaction: WriteTransactionReference
  private let database: Database
  /// Closed by the first deletion, which would go on beside it.
  private var cursor: OpaquePointer?
  /// Whether every entry so far came after all that the database had.
  private var appends = true

  /// Begins to write into `database`.
  ///
  /// The corresponding C function is `mdb_cursor_open`.
  package init(
    _ database: Database,
    in transaction: WriteTransactionReference
  ) throws(LMDBError) {
    assert(unsafe database.environment == transaction.environment.identity)
    unsafe self.transaction = unsafe transaction
    unsafe self.database = database
    unsafe cursor = unsafe try cursorOpen(transaction.raw, database.handle)
  }

  deinit {
    if let cursor = unsafe cursor { unsafe cursorClose(cursor) }
  }

  /// Sets the value of `key`; see ``WriteTransaction/put(_:for:in:)``.
  ///
  /// The corresponding C function is `mdb_cursor_put`.
  package mutating func put(
    _ value: UnsafeRawBufferPointer,
    for key: UnsafeRawBufferPointer
  ) throws(LMDBError) {
    guard let cursor = unsafe cursor else {
      return unsafe try transaction.put(value, for: key, in: database)
    }
    if unsafe appends { unsafe appends = unsafe try put(value, for: key, cursor, MDB_APPEND) }
    if unsafe !appends { _ = unsafe try put(value, for: key, cursor, 0) }
  }

  /// Adds `key` after every other; says whether it is greater than the last one, without which
  /// nothing is written.
  ///
  /// The corresponding C function is `mdb_cursor_put` with `MDB_APPEND`.
  package mutating func append(
    _ value: UnsafeRawBufferPointer,
    for key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Bool {
    guard let cursor = unsafe cursor else {
      return unsafe try transaction.append(value, for: key, in: database)
    }
    return unsafe try put(value, for: key, cursor, MDB_APPEND)
  }

  private func put(
    _ value: UnsafeRawBufferPointer,
    for key: UnsafeRawBufferPointer,
    _ cursor: OpaquePointer,
    _ flags: Int32
  ) throws(LMDBError) -> Bool {
    do throws(LMDBError) {
      return unsafe try cursorPut(cursor, key, value, flags: flags)
    } catch {
      throw unsafe transaction.environment.examined(error)
    }
  }

  /// Removes `key`; says whether it was there.
  @discardableResult
  package mutating func delete(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
    if let cursor = unsafe cursor { unsafe cursorClose(cursor) }
    unsafe cursor = nil
    return unsafe try transaction.delete(key, in: database)
  }
}
