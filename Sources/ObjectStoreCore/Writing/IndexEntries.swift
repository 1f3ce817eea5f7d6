package import LMDB

/// The index entries that a write of one record adds and removes.
package struct IndexEntries: ~Copyable {
  package private(set) var added = KeyList()
  private(set) var removed = KeyList()
  private var indexesOfAdded: [Int] = []
  private var indexesOfRemoved: [Int] = []
  private var before = KeyList()
  private var after = KeyList()

  package init() {}

  /// The number of the index that `added[number]` belongs to.
  package func indexOfAdded(_ number: Int) -> Int { indexesOfAdded[number] }

  /// The number of the index that `removed[number]` belongs to.
  func indexOfRemoved(_ number: Int) -> Int { indexesOfRemoved[number] }

  mutating func removeAll() {
    added.removeAll()
    removed.removeAll()
    indexesOfAdded.removeAll(keepingCapacity: true)
    indexesOfRemoved.removeAll(keepingCapacity: true)
  }

  package mutating func add(
    _ record: borrowing RecordView,
    _ id: UInt64,
    in index: ModelTables.Index,
    _ number: Int
  ) throws(RecordError) {
    try added.append(record, id, in: index)
    while indexesOfAdded.count < added.count { indexesOfAdded.append(number) }
  }

  mutating func remove(
    _ record: borrowing RecordView,
    _ id: UInt64,
    in index: ModelTables.Index,
    _ number: Int
  ) throws(RecordError) {
    try removed.append(record, id, in: index)
    while indexesOfRemoved.count < removed.count { indexesOfRemoved.append(number) }
  }

  /// Adds the entries that differ between the old and the new record.
  mutating func replace(
    _ old: borrowing RecordView,
    with new: borrowing RecordView,
    _ id: UInt64,
    in index: ModelTables.Index,
    _ number: Int
  ) throws(RecordError) {
    before.removeAll()
    after.removeAll()
    try before.append(old, id, in: index)
    try after.append(new, id, in: index)
    for entry in 0..<before.count where unsafe !after.contains(before[entry]) {
      unsafe removed.append(before[entry])
      indexesOfRemoved.append(number)
    }
    for entry in 0..<after.count where unsafe !before.contains(after[entry]) {
      unsafe added.append(after[entry])
      indexesOfAdded.append(number)
    }
  }
}

/// Enforces the uniqueness of an index.
package struct UniqueIndex {
  package let tables: ModelTables
  package let index: ModelTables.Index

  package init(tables: ModelTables, index: ModelTables.Index) {
    self.tables = tables
    self.index = index
  }

  /// Throws if another object has the same values as the key.
  ///
  /// Keys with a `nil` value never conflict, as in SQL.
  ///
  /// - Throws: ``StoreError`` with `duplicateKey`.
  package func check(
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

  var fieldNames: String {
    index.parts.map { part in
      part.position.flatMap { tables.current?.fields[$0].name } ?? "field \(part.fieldID)"
    }
    .joined(separator: ", ")
  }

  /// Whether a field of the key is `nil`.
  package func hasNil(_ key: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    for part in index.parts {
      guard offset < key.count, unsafe key[offset] != 0 else { return true }
      offset += 1
      if let width = part.width {
        offset += width
        continue
      }
      // A string ends with the bytes 0 0, or with 0 1 and a hash of eight bytes.
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

/// Fills an empty index from the records of its model.
package struct IndexBuilder {
  package let tables: ModelTables
  package let index: ModelTables.Index

  package init(tables: ModelTables, index: ModelTables.Index) {
    self.tables = tables
    self.index = index
  }

  /// Builds the index.
  ///
  /// - Throws: ``StoreError`` with `duplicateKey` if the index is unique and two objects have the
  ///   same values; `damaged` if a record cannot be read.
  package func run(in transaction: inout WriteTransaction) throws {
    let reader = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: tables
    )
    var keys: [[UInt8]] = []
    var list = KeyList()
    unsafe try reader.forEachRecord { id, record in
      list.removeAll()
      do throws(RecordError) {
        try list.append(record, id, in: index)
      } catch {
        throw StoreError(error, model: tables.name, objectID: id)
      }
      for number in 0..<list.count { keys.append(unsafe Array(list[number])) }
      return true
    }
    // Insert in key order, so that pages are filled one after another.
    keys.sort { $0.precedes($1) }
    let uniqueness = UniqueIndex(tables: tables, index: index)
    for key in keys {
      try unsafe key.withUnsafeBytes { key in
        if index.description.isUnique {
          do {
            unsafe try uniqueness.check(key, in: transaction)
          } catch let error as StoreError where error.code == .duplicateKey {
            throw StoreError(
              .duplicateKey,
              """
              two objects of \(tables.name) have the same \(uniqueness.fieldNames), so the unique \
              index cannot be built, and the store is unchanged: give each object a value of its \
              own, with a MigrationStep if the property is new and has a default
              """,
              cause: error
            )
          }
        }
        unsafe try transaction.put(
          UnsafeRawBufferPointer(start: nil, count: 0),
          for: key,
          in: index.database
        )
      }
    }
  }
}
