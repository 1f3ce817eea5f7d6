package import LMDB

/// Lookups, and the ids of a model that is stored by key.
extension ModelWriter {
  /// Returns the object whose primary key has these bytes.
  func find(
    _ key: [UInt8],
    in transaction: borrowing WriteTransaction
  ) throws -> ModelReader.Found? {
    // A record that is found does not refer to the key.
    try unsafe key.span.withUnsafeBytes { unsafe try find($0, in: transaction) }
  }

  /// Returns the object whose primary key is that of the encoded record.
  package func findEncoded(
    in transaction: borrowing WriteTransaction
  ) throws -> ModelReader.Found? {
    unsafe try find(encodedKey, in: transaction)
  }

  /// The hash of the primary key of the encoded record.
  var encodedHash: UInt64 {
    get throws { unsafe hash(of: try encodedKey) }
  }

  /// Returns an object by its id.
  func find(
    id: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> ModelReader.Found? {
    guard let record = unsafe try reader(in: transaction).record(id) else { return nil }
    return ModelReader.Found(id: id, record: record)
  }

  /// Returns the object whose primary key has these bytes and this hash.
  func findByKey(
    _ key: UnsafeRawBufferPointer,
    hash: UInt64,
    as form: OutdatedForm,
    in transaction: borrowing WriteTransaction
  ) throws -> ModelReader.Found? {
    let reader = unsafe reader(in: transaction, as: form)
    let id = StorageLayout.homeID(ofHash: hash)
    let cold = unsafe try coldPart(of: id, in: transaction)
    // An earlier hash may no longer be free: the nested write that freed it may have failed.
    work.value.freeHash = unsafe cold == nil ? hash : nil
    if let cold = unsafe cold, let found = unsafe try reader.found(id, cold: cold, ifKeyIs: key) {
      return found
    }
    // Another object can have the id. The table of keys is empty unless two hashes collide, and a
    // lookup in an empty table reads no page.
    guard let ids = unsafe try reader.objectIDs(withHash: hash) else { return nil }
    return unsafe try reader.find(key, among: ids, parts: .all)
  }

  /// Returns the id of a new object whose primary key has this hash.
  func keyedID(
    forNewHash hash: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> UInt64 {
    // The new object may take the id that was free.
    defer { work.value.freeHash = nil }
    var id = StorageLayout.homeID(ofHash: hash)
    guard work.value.freeHash != hash else { return id }
    while unsafe try coldPart(of: id, in: transaction) != nil {
      id = StorageLayout.keyedID(after: id)
    }
    return id
  }

  /// Returns the record of an object; during a batch with the cursor that will write it.
  private func coldPart(
    of id: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> UnsafeRawBufferPointer? {
    try unsafe withUnsafeBytes(of: id) { key in
      guard unsafe work.value.recordWriter != nil else {
        return unsafe try transaction.value(for: key, in: tables.records)
      }
      return unsafe try work.value.recordWriter?.value(for: key)
    }
  }
}
