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

extension ReadTransaction {
  /// Returns the number of pages in the lists of a database, each of which begins with its length.
  borrowing func listedPageCount(inDatabase handle: UInt32) throws(LMDBError) -> Int {
    let cursor = unsafe Cursor(raw: try cursorOpen(raw, handle))
    var count = 0
    var entry = unsafe try cursor.first()
    while let pages = unsafe entry?.value {
      guard pages.count >= MemoryLayout<UInt>.size else {
        throw LMDBError(.corrupted, operation: "mdb_cursor_get")
      }
      count += unsafe Int(bitPattern: pages.loadUnaligned(as: UInt.self))
      unsafe entry = unsafe try cursor.next()
    }
    return count
  }
}

extension Transaction where Self: ~Copyable {
  /// Returns the greatest key of a database with integer keys; `nil` if it is empty.
  ///
  /// - Throws: ``LMDBError`` with `corrupted` if the key is not an integer.
  package borrowing func lastKey(in database: Database) throws(LMDBError) -> UInt64? {
    let cursor = unsafe try cursor(on: database)
    guard let entry = unsafe try cursor.last() else { return nil }
    guard unsafe entry.key.count == 8 else {
      throw LMDBError(.corrupted, operation: "reading the last key of \(database.name)")
    }
    return unsafe entry.key.loadUnaligned(as: UInt64.self)
  }

  /// Calls `body` with each entry of a database with integer keys, from a key on, until it returns
  /// `false`.
  ///
  /// The span points into the map and ends with the call, and the transaction cannot write during it.
  /// A damaged database may have a key that is not an integer: that is passed as `nil`.
  package borrowing func forEachEntry(
    from start: UInt64,
    in database: Database,
    _ body: (_ key: UInt64?, _ value: RawSpan) throws -> Bool
  ) throws {
    let cursor = unsafe try cursor(on: database)
    var entry = try unsafe withUnsafeBytes(of: start) { unsafe try cursor.first(atOrAfter: $0) }
    while let found = unsafe entry {
      let key = unsafe found.key.count == 8 ? found.key.loadUnaligned(as: UInt64.self) : nil
      guard try body(key, unsafe found.value.bytes) else { return }
      unsafe entry = unsafe try cursor.next()
    }
  }

  /// Calls `body` with each entry whose key begins with `prefix`, in the order of the keys.
  ///
  /// The spans point into the map; nothing is copied. They end with the call, and the transaction
  /// cannot write during it.
  package borrowing func forEachEntry(
    withPrefix prefix: [UInt8],
    in database: Database,
    _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void
  ) throws {
    let cursor = unsafe try cursor(on: database)
    var entry = unsafe try prefix.withUnsafeBytes { unsafe try cursor.first(atOrAfter: $0) }
    while let found = unsafe entry, unsafe found.key.starts(with: prefix) {
      try body(
        unsafe found.key.bindMemory(to: UInt8.self).span,
        unsafe found.value.bindMemory(to: UInt8.self).span
      )
      unsafe entry = unsafe try cursor.next()
    }
  }
}
