internal import LMDB

extension ObjectReader where Self: ~Copyable {
  /// The objects of the query.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(k log n) for the k candidates of an index that serves the query, otherwise
  ///   O(n) in the objects of the model; an order adds the sorting of what is found.
  public func fetch<M: Model>(_ query: Query<M>) throws -> [M] {
    var objects: [M] = []
    try forEach(query) { object in
      objects.append(object)
      return true
    }
    return objects
  }

  /// The first object of the query, or `nil`.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  public func first<M: Model>(_ query: Query<M>) throws -> M? {
    try fetch(query.limit(min(query.takeCount, 1))).first
  }

  /// How many objects the query finds, without decoding them.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(1) for all objects of a model, otherwise as ``fetch(_:)``.
  public func count<M: Model>(_ query: Query<M>) throws -> Int {
    guard let reader = unsafe try source.reader(of: M.self) else { return 0 }
    var count = 0
    if query.predicate.isAlwaysTrue {
      count = unsafe try reader.count()
    } else {
      unsafe try reader.forEachMatch(query.predicate) { _, _ in
        count += 1
        return true
      }
    }
    return min(max(count - query.skipCount, 0), query.takeCount)
  }

  /// Calls `body` with each object of the query, one at a time; it returns false to stop.
  ///
  /// Without an order the objects are never all in memory.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`, or what `body` throws.
  public func forEach<M: Model>(_ query: Query<M>, _ body: (M) throws -> Bool) throws {
    guard query.takeCount > 0, let reader = unsafe try source.reader(of: M.self) else { return }
    guard query.order.isEmpty else {
      for object in unsafe try reader.sorted(query) {
        guard try body(object) else { return }
      }
      return
    }
    var skipped = 0
    var count = 0
    unsafe try reader.forEachMatch(query.predicate) { id, record in
      guard skipped >= query.skipCount else {
        skipped += 1
        return true
      }
      count += 1
      return unsafe try body(reader.decode(record, id)) && count < query.takeCount
    }
  }

  /// How the query finds its objects: `index on state`, or `scan`.
  ///
  /// - Throws: ``StoreError`` with `unknownModel`.
  public func explain<M: Model>(_ query: Query<M>) throws -> String {
    switch unsafe try source.reader(of: M.self)?.plan(query.predicate) {
    case .scan, nil: "scan"
    case .index(let position, _): "index on \(M.schema.fields[position].name)"
    }
  }
}

extension StoreTransaction {
  /// Removes the objects of the query, and returns how many there were.
  ///
  /// - Throws: ``StoreError`` as ``upsert(_:)``.
  @discardableResult
  public mutating func delete<M: Model>(_ query: Query<M>) throws -> Int {
    let keys = try fetch(query).map(\.primaryKey)
    for key in keys { try delete(M.self, key) }
    return keys.count
  }
}

extension ModelReader {
  func decode<M: Model>(_ record: borrowing RecordView, _ id: UInt64) throws -> M {
    do throws(RecordError) {
      return try M(from: record)
    } catch {
      throw StoreError(error, model: M.schema.name, objectID: id)
    }
  }

  private func index(onFieldAt position: Int) -> ModelTables.Index? {
    unsafe tables.indexes.first { $0.parts.count == 1 && $0.parts[0].position == position }
  }

  func plan<M: Model>(_ predicate: Predicate<M>) -> QueryPlan {
    QueryPlan(predicate) { unsafe index(onFieldAt: $0) != nil }
  }

  func sorted<M: Model>(_ query: Query<M>) throws -> ArraySlice<M> {
    var matches: [M] = []
    unsafe try forEachMatch(query.predicate) { id, record in
      matches.append(unsafe try decode(record, id))
      return true
    }
    // Matches come in the order of ids, and the sort is stable: it settles what the order leaves.
    let sorted = matches.enumerated().sorted { left, right in
      query.areInOrder(left.element, right.element) ?? (left.offset < right.offset)
    }
    return sorted.map(\.element).dropFirst(query.skipCount).prefix(query.takeCount)
  }

  /// Calls `body` with each record that meets the condition, in the order of ids.
  func forEachMatch<M: Model>(
    _ predicate: Predicate<M>,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    switch unsafe plan(predicate) {
    case .scan:
      unsafe try forEachRecord { id, record in
        guard unsafe try matches(predicate, record, id) else { return true }
        return try body(id, record)
      }
    case .index(let position, let ranges):
      guard let index = unsafe index(onFieldAt: position) else { return }
      for id in unsafe try candidates(in: index.database, ranges) {
        guard let record = unsafe try record(id) else {
          throw StoreError(
            .damaged,
            "the index on \(M.schema.fields[position].name) names object \(id), which is not there"
          )
        }
        guard unsafe try matches(predicate, record, id) else { continue }
        guard try body(id, record) else { return }
      }
    }
  }

  private func matches<M: Model>(
    _ predicate: Predicate<M>,
    _ record: borrowing RecordView,
    _ id: UInt64
  ) throws -> Bool {
    do throws(RecordError) {
      return try predicate.matches(record)
    } catch {
      throw StoreError(error, model: M.schema.name, objectID: id)
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
          throw StoreError(.damaged, unsafe "an entry of an index of \(tables.name) is cut off")
        }
        ids.insert(id)
        unsafe entry = unsafe try cursor.next()
      }
    }
    return ids.sorted()
  }
}
