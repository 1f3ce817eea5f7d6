package import LMDB

/// Lookups by primary key.
extension ModelReader {
  /// A record and its object ID.
  @safe  // `RecordView` is a safe type.
  @usableFromInline
  package struct Found: ~Copyable {
    @usableFromInline package let id: UInt64
    @usableFromInline package let record: RecordView
  }

  /// Returns the object with the given stored primary key.
  @usableFromInline
  package func find(_ key: UnsafeRawBufferPointer) throws -> Found? {
    unsafe try find(key, parts: .all)
  }

  /// Returns the ID of the object with the given stored primary key.
  @usableFromInline
  package func objectID(of key: UnsafeRawBufferPointer) throws -> UInt64? {
    guard unsafe tables.hasOutdatedLayouts else { return unsafe try find(key, parts: .cold)?.id }
    return unsafe try asStored.find(key, parts: .cold)?.id
  }

  /// Returns the object with the given stored primary key, without its hot part.
  @usableFromInline
  func findCold(_ key: UnsafeRawBufferPointer) throws -> Found? {
    unsafe try find(key, parts: .cold)
  }

  package func find(_ key: UnsafeRawBufferPointer, parts: RecordParts) throws -> Found? {
    let hash = unsafe XXHash64.hash(key, seed: tables.hashSeed)
    if unsafe tables.storage == .byKey {
      let id = StorageLayout.homeID(ofHash: hash)
      if let cold = unsafe try value(of: id, in: tables.records),
        let found = unsafe try found(id, cold: cold, ifKeyIs: key)
      {
        return found
      }
    }
    guard let ids = unsafe try objectIDs(withHash: hash) else { return nil }
    return unsafe try find(key, among: ids, parts: parts)
  }

  /// Returns the object with this cold part if it has the given primary key.
  ///
  /// In a model that is stored by key, whose records have no hot part.
  func found(
    _ id: UInt64,
    cold: UnsafeRawBufferPointer,
    ifKeyIs key: UnsafeRawBufferPointer
  ) throws -> Found? {
    guard unsafe !tables.hasOutdatedLayouts else {
      return unsafe try found(id, cold: cold, ifStoredKeyIs: key, parts: .cold)
    }
    let record = unsafe try record(id, cold: cold, parts: .cold)
    guard unsafe try isKey(key, of: record, id) else { return nil }
    return Found(id: id, record: record)
  }

  /// Returns the object with this cold part if it has the given primary key, in a model with
  /// outdated records.
  ///
  /// Converts no record with another key, so one that a step rejects does not affect others.
  func found(
    _ id: UInt64,
    cold: UnsafeRawBufferPointer,
    ifStoredKeyIs key: UnsafeRawBufferPointer,
    parts: RecordParts
  ) throws -> Found? {
    let stored = unsafe try asStored.record(id, cold: cold, parts: .cold)
    guard unsafe try isKey(key, of: stored, id) else { return nil }
    return Found(id: id, record: unsafe try record(id, cold: cold, parts: parts))
  }

  /// Returns the object with the given primary key among candidates, given as IDs of eight bytes
  /// each.
  func find(
    _ key: UnsafeRawBufferPointer,
    among ids: UnsafeRawBufferPointer,
    parts: RecordParts
  ) throws -> Found? {
    for offset in stride(from: 0, to: ids.count, by: 8) {
      let id = unsafe UInt64(
        littleEndian: ids.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      )
      if let found = unsafe try found(id, ifKeyIs: key, parts: parts) { return found }
    }
    return nil
  }

  /// Returns the object with the given ID if it has the given primary key.
  func found(
    _ id: UInt64,
    ifKeyIs key: UnsafeRawBufferPointer,
    parts: RecordParts
  ) throws -> Found? {
    let cold = unsafe try coldPart(of: id)
    guard unsafe !tables.hasOutdatedLayouts else {
      return unsafe try found(id, cold: cold, ifStoredKeyIs: key, parts: parts)
    }
    guard unsafe parts.contains(.hot) && tables.hasHotFields else {
      return unsafe try found(id, cold: cold, ifKeyIs: key)
    }
    let record = unsafe try record(id, cold: cold, parts: .cold)
    guard unsafe try isKey(key, of: record, id) else { return nil }
    guard unsafe record.binding.hasHotFields else { return Found(id: id, record: record) }
    let part = unsafe try hotPart(of: id)
    return Found(id: id, record: unsafe try self.record(id, adding: part, to: record))
  }

  /// Returns the cold part of an object that the key table has.
  private func coldPart(of id: UInt64) throws -> UnsafeRawBufferPointer {
    guard let cold = unsafe try value(of: id, in: tables.records) else {
      throw unsafe missingRecord(id)
    }
    return unsafe cold
  }

  /// The error for an id in the key table that has no record.
  func missingRecord(_ id: UInt64) -> StoreError {
    StoreError(
      .damaged,
      unsafe "object \(id) of \(tables.name) has an entry in the key table but no record"
    )
  }

  /// Returns a record with its hot part added.
  private func record(
    _ id: UInt64,
    adding part: HotChunk.Part?,
    to record: borrowing RecordView
  ) throws -> RecordView {
    do throws(RecordError) {
      guard let part = unsafe part else { throw RecordError(.missingHotPart) }
      return unsafe try record.adding(part)
    } catch {
      throw StoreError(error, model: unsafe tables.name, objectID: id)
    }
  }

  /// Returns whether the record has the primary key with these bytes.
  func isKey(
    _ key: [UInt8],
    of record: borrowing RecordView,
    _ id: UInt64
  ) throws -> Bool {
    try unsafe key.withUnsafeBytes { unsafe try isKey($0, of: record, id) }
  }

  /// Returns whether the record has the given primary key.
  func isKey(
    _ key: UnsafeRawBufferPointer,
    of record: borrowing RecordView,
    _ id: UInt64
  ) throws -> Bool {
    do throws(RecordError) {
      guard case .present(let bytes) = unsafe try record.content(at: tables.primaryKeyPosition)
      else { return false }
      return unsafe bytes.isSame(as: key)
    } catch {
      throw StoreError(error, model: unsafe tables.name, objectID: id)
    }
  }

  /// Returns the IDs of the objects whose primary key has this hash, eight bytes each.
  ///
  /// There is nearly always at most one.
  package func objectIDs(withHash hash: UInt64) throws -> UnsafeRawBufferPointer? {
    guard let bytes = unsafe try value(of: hash, in: tables.keys) else { return nil }
    unsafe try checkObjectIDs(bytes)
    return unsafe bytes
  }

  /// Checks the size of an entry of the key table.
  func checkObjectIDs(_ bytes: UnsafeRawBufferPointer) throws {
    guard bytes.count.isMultiple(of: 8) else {
      throw StoreError(.damaged, unsafe "the primary keys of \(tables.name) are damaged")
    }
  }
}

extension ModelTables {
  /// Returns whether the model has an object with a primary key in its stored encoding.
  package func hasObject(
    withKey key: [UInt8],
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> Bool {
    let reader = unsafe ModelReader(transaction: TransactionReference(transaction), tables: self)
    return try unsafe key.withUnsafeBytes { unsafe try reader.objectID(of: $0) != nil }
  }
}
