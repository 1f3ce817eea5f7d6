internal import CLMDB

/// A cursor: a position in a database.
///
/// Unsafe to use after its transaction ends; therefore not public.
@unsafe
package struct Cursor: ~Copyable {
  private let raw: OpaquePointer

  init(raw: OpaquePointer) {
    unsafe self.raw = unsafe raw
  }

  deinit {
    unsafe cursorClose(raw)
  }

  /// An entry in the map: valid until the transaction ends or writes.
  @unsafe
  package struct Entry {
    package let key: UnsafeRawBufferPointer
    package let value: UnsafeRawBufferPointer
  }

  /// Moves to the first entry.
  ///
  /// The corresponding C operation is `MDB_FIRST`.
  package func first() throws(LMDBError) -> Entry? { unsafe try move(MDB_FIRST) }

  /// Moves to the last entry.
  ///
  /// The corresponding C operation is `MDB_LAST`.
  package func last() throws(LMDBError) -> Entry? { unsafe try move(MDB_LAST) }

  /// Moves to the next entry.
  ///
  /// The corresponding C operation is `MDB_NEXT`.
  package func next() throws(LMDBError) -> Entry? { unsafe try move(MDB_NEXT) }

  /// Moves to the previous entry.
  ///
  /// The corresponding C operation is `MDB_PREV`.
  package func previous() throws(LMDBError) -> Entry? { unsafe try move(MDB_PREV) }

  /// Moves to the first entry whose key is `key` or greater.
  ///
  /// The corresponding C operation is `MDB_SET_RANGE`.
  package func first(atOrAfter key: UnsafeRawBufferPointer) throws(LMDBError) -> Entry? {
    unsafe try move(MDB_SET_RANGE, from: MDB_val(key))
  }

  @inline(__always)
  private func move(
    _ operation: MDB_cursor_op,
    from start: MDB_val = unsafe MDB_val()
  ) throws(LMDBError) -> Entry? {
    var key = unsafe start
    var value = unsafe MDB_val()
    guard unsafe try cursorGet(raw, key: &key, value: &value, operation) else { return nil }
    return unsafe Entry(key: key.bytes, value: value.bytes)
  }
}
