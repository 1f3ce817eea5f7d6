internal import LMDB

/// The records of one model in one transaction, as bytes and as objects.
@unsafe
struct RecordSource<M: Model> {
  let transaction: TransactionReference
  let tables: ModelTables

  // MARK: By id

  /// Calls `body` with the record of the object, if there is one.
  func withRecord<R>(
    _ id: UInt64,
    _ body: (borrowing RecordView) throws -> R
  ) throws -> R? {
    guard let cold = unsafe try value(of: id, in: tables.records) else { return nil }
    return unsafe try withRecord(id, cold: cold, hot: nil, body)
  }

  /// Calls `body` with the record of those bytes; a hot part that is not at hand is looked up.
  func withRecord<R>(
    _ id: UInt64,
    cold: UnsafeRawBufferPointer,
    hot: UnsafeRawBufferPointer?,
    _ body: (borrowing RecordView) throws -> R
  ) throws -> R {
    do {
      let number = unsafe try RecordHeader(cold).layoutNumber
      guard let binding = unsafe tables.bindings[number] else {
        throw RecordError(.unknownLayout)
      }
      var hot = unsafe hot
      if unsafe hot == nil, binding.layout.hot.fieldCount > 0 {
        unsafe hot = unsafe try value(of: id, in: tables.hot)
      }
      let view = unsafe try RecordView(
        cold: cold,
        hot: hot ?? UnsafeRawBufferPointer(start: nil, count: 0),
        objectID: id,
        binding: binding
      )
      return try body(view)
    } catch let error as RecordError {
      throw StoreError(error, model: M.schema.name, objectID: id)
    }
  }

  func object(_ id: UInt64) throws -> M? {
    unsafe try withRecord(id) { try M(from: $0) }
  }

  private func value(of id: UInt64, in database: Database) throws -> UnsafeRawBufferPointer? {
    try unsafe withUnsafeBytes(of: id) { unsafe try transaction.value(for: $0, in: database) }
  }

  // MARK: By primary key

  /// The id of the object with that primary key.
  func objectID(of key: M.PrimaryKey) throws -> UInt64? {
    let stored = key.storedBytes
    let hash = XXHash64.hash(stored, seed: unsafe tables.hashSeed)
    for id in unsafe try objectIDs(withHash: hash) {
      let isSame = unsafe try withRecord(id) { record in
        guard case .present(let bytes) = unsafe try record.content(at: tables.primaryKeyPosition)
        else { return false }
        return unsafe bytes.elementsEqual(stored)
      }
      guard let isSame else {
        throw StoreError(
          .damaged,
          "object \(id) of \(M.schema.name) is listed, but has no record"
        )
      }
      if isSame { return id }
    }
    return nil
  }

  /// The ids of the objects whose primary keys have that hash: nearly always none or one.
  func objectIDs(withHash hash: UInt64) throws -> [UInt64] {
    guard let bytes = unsafe try value(of: hash, in: tables.keys) else { return [] }
    guard bytes.count.isMultiple(of: 8) else {
      throw StoreError(.damaged, "the primary keys of \(M.schema.name) are damaged")
    }
    return stride(from: 0, to: bytes.count, by: 8).map { offset in
      unsafe UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      )
    }
  }

  // MARK: Queries

  func plan(_ predicate: Predicate<M>) -> QueryPlan {
    QueryPlan(predicate) { unsafe tables.index(onFieldAt: $0, of: M.schema) != nil }
  }

  func fetch(_ query: Query<M>) throws -> [M] {
    var objects: [M] = []
    unsafe try forEach(query) { object in
      objects.append(object)
      return true
    }
    return objects
  }

  func forEach(_ query: Query<M>, _ body: (M) throws -> Bool) throws {
    guard query.takeCount > 0 else { return }
    guard query.order.isEmpty else {
      for object in unsafe try sorted(query) {
        guard try body(object) else { return }
      }
      return
    }
    var skipped = 0
    var count = 0
    unsafe try forEachMatch(query.predicate) { _, record in
      guard skipped >= query.skipCount else {
        skipped += 1
        return true
      }
      count += 1
      return try body(M(from: record)) && count < query.takeCount
    }
  }

  private func sorted(_ query: Query<M>) throws -> ArraySlice<M> {
    var matches: [M] = []
    unsafe try forEachMatch(query.predicate) { _, record in
      matches.append(try M(from: record))
      return true
    }
    // Matches come in the order of ids, and the sort is stable: it settles what the order leaves.
    let sorted = matches.enumerated().sorted { left, right in
      query.areInOrder(left.element, right.element) ?? (left.offset < right.offset)
    }
    return sorted.map(\.element).dropFirst(query.skipCount).prefix(query.takeCount)
  }

  func count(_ query: Query<M>) throws -> Int {
    var count = 0
    if query.predicate.isAlwaysTrue {
      count = unsafe try transaction.count(of: tables.records)
    } else {
      unsafe try forEachMatch(query.predicate) { _, _ in
        count += 1
        return true
      }
    }
    return min(max(count - query.skipCount, 0), query.takeCount)
  }

  /// The ids of the objects that meet the condition, in their order.
  func matchingIDs(_ predicate: Predicate<M>) throws -> [UInt64] {
    var ids: [UInt64] = []
    unsafe try forEachMatch(predicate) { id, _ in
      ids.append(id)
      return true
    }
    return ids
  }

  /// Calls `body` with each record that meets the condition, in the order of ids.
  func forEachMatch(
    _ predicate: Predicate<M>,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    switch unsafe plan(predicate) {
    case .scan:
      unsafe try scan { id, record in
        guard try predicate.matches(record) else { return true }
        return try body(id, record)
      }
    case .index(let position, let ranges):
      guard let index = unsafe tables.index(onFieldAt: position, of: M.schema) else { return }
      for id in unsafe try candidates(in: index.database, ranges) {
        let goesOn = unsafe try withRecord(id) { record in
          guard try predicate.matches(record) else { return true }
          return try body(id, record)
        }
        guard let goesOn else {
          throw StoreError(
            .damaged,
            "the index on \(M.schema.fields[position].name) names object \(id), which is not there"
          )
        }
        guard goesOn else { return }
      }
    }
  }

  /// The ids in those ranges of an index, each once, in their order.
  private func candidates(in index: Database, _ ranges: [KeyRange]) throws -> [UInt64] {
    var ids: Set<UInt64> = []
    let cursor = unsafe try transaction.cursor(on: index)
    for range in ranges {
      var entry = unsafe try range.lower.withUnsafeBytes { unsafe try cursor.first(atOrAfter: $0) }
      while let found = unsafe entry {
        if let upper = range.upper, unsafe !found.key.lexicographicallyPrecedes(upper) { break }
        guard let id = unsafe KeyEncoding.objectID(of: found.key) else {
          throw StoreError(.damaged, "an entry of an index of \(M.schema.name) is cut off")
        }
        ids.insert(id)
        unsafe entry = unsafe try cursor.next()
      }
    }
    return ids.sorted()
  }

  /// Calls `body` with every record, in the order of ids.
  func scan(_ body: (UInt64, borrowing RecordView) throws -> Bool) throws {
    let cold = unsafe try transaction.cursor(on: tables.records)
    let hot = unsafe try transaction.cursor(on: tables.hot)
    var entry = unsafe try cold.first()
    var hotEntry = unsafe try hot.first()
    while let found = unsafe entry {
      let id = unsafe try objectID(found.key)
      // Both tables are in the order of ids, so the hot parts are met in step.
      var hotBytes: UnsafeRawBufferPointer?
      if let candidate = unsafe hotEntry, unsafe try objectID(candidate.key) == id {
        unsafe hotBytes = unsafe candidate.value
        unsafe hotEntry = unsafe try hot.next()
      }
      let goesOn = unsafe try withRecord(id, cold: found.value, hot: hotBytes) {
        try body(id, $0)
      }
      guard goesOn else { return }
      unsafe entry = unsafe try cold.next()
    }
  }

  private func objectID(_ key: UnsafeRawBufferPointer) throws -> UInt64 {
    guard key.count == 8 else {
      throw StoreError(.damaged, "a record of \(M.schema.name) has no id")
    }
    return unsafe key.loadUnaligned(as: UInt64.self)
  }
}
