internal import CLMDB

/// A writer for entries that arrive in key order.
///
/// It keeps one cursor. A key after the last one is appended without a search, and a key on the
/// page of the previous entry is found there.
///
/// Unsafe to use after its transaction ends, and after another write to the same database.
@unsafe
package struct OrderedWriter: ~Copyable {
  private let transaction: WriteTransactionReference
  private let database: Database
  /// The cursor; `nil` once an entry has been deleted, because deletions do not go through it.
  private var cursor: OpaquePointer?
  /// Whether each entry so far was greater than every key in the database.
  private var appends = true

  /// Creates a writer for `database`.
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

  /// Returns the value of `key`, valid until the next write.
  ///
  /// A ``put(_:for:)`` of the same key that follows needs no other search from the root.
  ///
  /// The corresponding C operation is `MDB_SET`.
  package mutating func value(
    for key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    guard let cursor = unsafe cursor else {
      return unsafe try transaction.value(for: key, in: database)
    }
    var found = unsafe MDB_val(key)
    var value = unsafe MDB_val()
    guard unsafe try cursorGet(cursor, key: &found, value: &value, MDB_SET) else { return nil }
    return unsafe value.bytes
  }

  /// Appends an entry, and returns whether it did: if `key` is not greater than every other key,
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
      throw unsafe transaction.environment.handleWriteFailure(error)
    }
  }

  /// Removes `key`, and returns whether it existed.
  @discardableResult
  package mutating func delete(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
    if let cursor = unsafe cursor { unsafe cursorClose(cursor) }
    unsafe cursor = nil
    return unsafe try transaction.delete(key, in: database)
  }
}
