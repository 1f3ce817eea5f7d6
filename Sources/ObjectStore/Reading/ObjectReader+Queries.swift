extension ObjectReader where Self: ~Copyable {
  /// The objects of the query.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError` when the task is
  ///   cancelled meanwhile.
  /// - Complexity: O(k log n) for the k candidates of an index that serves the query, otherwise
  ///   O(n) in the objects of the model; an order that no index serves adds the sorting of what is
  ///   found, of which a limit keeps no more than it needs in memory.
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
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: As ``fetch(_:)->[M]`` with a limit of 1.
  public func first<M: Model>(_ query: Query<M>) throws -> M? {
    try fetch(query.forOne).first
  }

  /// The object of that primary key, which must be there.
  ///
  /// - Throws: ``StoreError`` with `notFound`, `damaged` or `unknownModel`.
  /// - Complexity: O(log n) in the objects of the model.
  public func find<M: Model>(_ model: M.Type, _ key: M.PrimaryKey) throws -> M {
    guard let object = try get(model, key) else {
      throw StoreError(.notFound, "there is no object of \(M.schema.name) with key \(key)")
    }
    return object
  }

  /// How many objects the query finds, without decoding them.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: O(1) for all objects of a model. Where an index alone tells what matches, O(k) in
  ///   its k entries, and no record is read; otherwise as ``fetch(_:)->[M]``.
  public func count<M: Model>(_ query: Query<M>) throws -> Int {
    guard let reader = unsafe try source.reader(of: M.self) else { return 0 }
    guard query.takeCount > 0 else { return 0 }
    let core = try QueryCore(query.predicate, in: source)
    let count = unsafe try reader.countMatches(core, limit: query.neededCount)
    return Swift.max(count - query.skipCount, 0)
  }

  /// Whether the query finds any object.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: As ``count(_:)`` with a limit of 1.
  public func exists<M: Model>(_ query: Query<M>) throws -> Bool {
    try count(query.forOne) > 0
  }

  /// Calls `body` with each object of the query, one at a time; it returns false to stop.
  ///
  /// Without an order, and with one that an index serves, the objects are never all in memory.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`, or what `body` throws;
  ///   `CancellationError` when the task is cancelled meanwhile.
  public func forEach<M: Model>(_ query: Query<M>, _ body: (M) throws -> Bool) throws {
    guard query.sortOrder != nil else {
      for object in try sortedByComputing(query) { guard try body(object) else { return } }
      return
    }
    unsafe try forEachRecord(query) { reader, id, record in
      unsafe try body(reader.decode(record, id))
    }
  }

  /// How the query finds its objects: through which index, or by looking at every one.
  ///
  /// Reads nothing but how many objects there are; but of a condition across a reference, the other
  /// side is run, since the plan depends on how many objects it finds.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  public func explain<M: Model>(_ query: Query<M>) throws -> QueryPlan {
    try source.explain(query)
  }

  // MARK: Inside the module

  /// Calls `body` with each whole record of the query, in the order of its columns.
  func forEachRecord<M: Model>(
    _ query: Query<M>,
    _ body: (ModelReader, UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    guard let reader = unsafe try source.reader(of: M.self) else { return }
    var executor = unsafe try QueryExecutor(reader, QueryCore(query, in: source))
    unsafe try executor.forEach(requested: .all) { id, record in
      unsafe try body(reader, id, record)
    }
  }

  /// The objects of a query with an order by a value that is computed: all matches are decoded.
  private func sortedByComputing<M: Model>(_ query: Query<M>) throws -> ArraySlice<M> {
    guard let reader = unsafe try source.reader(of: M.self) else { return [] }
    var ranked: [Ranked<M>] = []
    var executor = unsafe try QueryExecutor(reader, QueryCore(query, in: source, isOrdered: false))
    unsafe try executor.forEach(requested: .all) { id, record in
      ranked.append(unsafe try Ranked(reader.decode(record, id), query, record, id))
      return true
    }
    ranked.sort { $0.precedes($1, query.orders) }
    let skipped = ranked.dropFirst(query.skipCount).prefix(query.takeCount)
    return skipped.map(\.object)[...]
  }
}

/// An object and what it is sorted by.
private struct Ranked<M: Model> {
  let object: M
  let id: UInt64
  /// One key for each order; empty for those that are computed.
  let keys: [[UInt8]]

  init(_ object: M, _ query: Query<M>, _ record: borrowing RecordView, _ id: UInt64) throws {
    self.object = object
    self.id = id
    var keys: [[UInt8]] = []
    do throws(RecordError) {
      for order in query.orders {
        var key = ByteWriter()
        if case .column(let column) = order { try column.append(record, to: &key) }
        keys.append(key.bytes)
      }
    } catch {
      throw StoreError(error, model: M.schema.name, objectID: id)
    }
    self.keys = keys
  }

  func precedes(_ other: Ranked, _ orders: [QueryOrder<M>]) -> Bool {
    for (number, order) in orders.enumerated() {
      switch order {
      case .column:
        if keys[number] != other.keys[number] {
          return keys[number].lexicographicallyPrecedes(other.keys[number])
        }
      case .computed(let direction, let compare):
        let standing = compare(object, other.object)
        if standing != 0 { return (standing < 0) == (direction == .ascending) }
      }
    }
    return (id < other.id) == (orders.last?.direction != .descending)
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
}
