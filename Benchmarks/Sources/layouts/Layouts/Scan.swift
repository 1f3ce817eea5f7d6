import CLMDB
import LMDB

extension ReadTransaction {
  /// Calls `body` with each value of the database, in the order of keys.
  ///
  /// LMDB's cursor is not public, so this goes to the C library, as `ObjectStore` in effect does.
  borrowing func forEachValue(in database: Database, _ body: (Span<UInt8>) -> Void) throws {
    var handle: MDB_dbi = 0
    var cursor: OpaquePointer?
    guard
      // The database is open: this finds its handle.
      unsafe mdb_dbi_open(raw, database.name, 0, &handle) == MDB_SUCCESS,
      unsafe mdb_cursor_open(raw, handle, &cursor) == MDB_SUCCESS
    else { throw Mismatch("no cursor on \(database.name)") }
    defer { unsafe mdb_cursor_close(cursor) }
    var key = unsafe MDB_val()
    var value = unsafe MDB_val()
    while unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS {
      let bytes = unsafe UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
      unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe body($0.span) }
    }
  }
}
