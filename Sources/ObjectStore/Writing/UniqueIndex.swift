internal import LMDB

/// Keeps two objects from having the same values in the fields of a unique index.
struct UniqueIndex {
  let tables: ModelTables
  let index: ModelTables.Index

  /// Refuses a key whose values another object has already.
  ///
  /// - Throws: ``StoreError`` with `duplicateKey`.
  func check(
    _ key: UnsafeRawBufferPointer,
    in transaction: borrowing WriteTransaction
  ) throws {
    guard unsafe !hasNil(key) else { return }
    let values = unsafe UnsafeRawBufferPointer(rebasing: key.dropLast(KeyEncoding.idSize))
    let id = unsafe KeyEncoding.objectID(of: key)
    let cursor = unsafe try transaction.cursor(on: index.database)
    var entry = unsafe try cursor.first(atOrAfter: values)
    while let found = unsafe entry {
      let other = unsafe found.key
      guard other.count == key.count, unsafe other.starts(with: values) else { return }
      if unsafe KeyEncoding.objectID(of: other) != id {
        throw StoreError(
          .duplicateKey,
          "another object of \(tables.name) has the same \(fieldNames)"
        )
      }
      unsafe entry = unsafe try cursor.next()
    }
  }

  private var fieldNames: String {
    index.parts.map { part in
      part.position.flatMap { tables.current?.fields[$0].name } ?? "field \(part.fieldID)"
    }
    .joined(separator: ", ")
  }

  /// Whether any field of the key is nil, which is the same as nothing.
  func hasNil(_ key: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    for part in index.parts {
      guard offset < key.count, unsafe key[offset] != 0 else { return true }
      offset += 1
      if let width = part.width {
        offset += width
        continue
      }
      // A text ends at 0 0, or at 0 1 and a hash of eight bytes.
      while offset + 1 < key.count {
        let (byte, next) = unsafe (key[offset], key[offset + 1])
        guard byte == 0 else {
          offset += 1
          continue
        }
        offset += 2
        if next == 0 { break }
        if next == 1 {
          offset += 8
          break
        }
      }
    }
    return false
  }
}
