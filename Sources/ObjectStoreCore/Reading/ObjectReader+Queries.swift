extension ObjectReader where Self: ~Copyable {
  /// Returns the objects that a query finds.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError` when the task
  ///   is cancelled during the search.
  /// - Complexity: O(k log n) for k candidates if an index serves the query, otherwise O(n) in the
  ///   number of objects of the model. An order that no index serves adds the cost of sorting the
  ///   matches; with a limit, only as many as offset and limit require are kept in memory.
  public func fetch<M: Model>(_ query: Query<M>) throws -> [M] {
    var objects: [M] = []
    try forEach(query) { object in
      objects.append(object)
      return true
    }
    return objects
  }

  /// Returns the first object that a query finds, or `nil`.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: As ``fetch(_:)->[M]`` with a limit of 1.
  public func first<M: Model>(_ query: Query<M>) throws -> M? {
    try fetch(query.forOne).first
  }

  /// Returns the number of objects that a query finds, without decoding them.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: O(1) for all objects of a model. O(k) in the entries read if an index alone
  ///   decides which objects match, without reading a record. Otherwise as ``fetch(_:)->[M]``.
  public func count<M: Model>(_ query: Query<M>) throws -> Int {
    guard let reader = unsafe try source.reader(of: M.self) else { return 0 }
    guard query.takeCount > 0 else { return 0 }
    let core = try ResolvedQuery(query.filter, in: source)
    let count = unsafe try reader.countMatches(core, limit: query.neededCount)
    return Swift.max(count - query.skipCount, 0)
  }

  /// Returns whether a query finds any object.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: As ``count(_:)`` with a limit of 1.
  public func exists<M: Model>(_ query: Query<M>) throws -> Bool {
    try count(query.forOne) > 0
  }

  /// Calls `body` with each object that a query finds, until `body` returns `false`.
  ///
  /// Objects are decoded one at a time. If an index serves the order, or the query has none, they
  /// are never all in memory.
  ///
  /// ```swift
  /// try tx.forEach(Note.all.order(by: \.rank)) { note in
  ///   print(note.text)
  ///   return note.rank < 10
  /// }
  /// ```
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`, or the error of `body`;
  ///   `CancellationError` when the task is cancelled during the search.
  public func forEach<M: Model>(_ query: Query<M>, _ body: (M) throws -> Bool) throws {
    guard query.sortOrder != nil else {
      for object in try sortedByComputing(query) { guard try body(object) else { return } }
      return
    }
    unsafe try forEachRecord(query) { reader, id, record in
      unsafe try body(reader.decode(record, id))
    }
  }

  /// Returns the plan of a query: the indexes it uses, or that it reads every object.
  ///
  /// ```swift
  /// print(try store.read { tx in try tx.explain(Note.where { $0.rank > 3 }) })
  /// // index (rank), range
  /// ```
  ///
  /// Reads only the number of objects. For a condition across a reference, it runs the query on the
  /// other model, because the plan depends on the number of keys found.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  public func explain<M: Model>(_ query: Query<M>) throws -> QueryPlan {
    try source.explain(query)
  }

  // MARK: Implementation

  /// Calls `body` with each complete record that a query finds, in the order of its stored sort
  /// keys.
  func forEachRecord<M: Model>(
    _ query: Query<M>,
    _ body: (ModelReader, UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    guard let reader = unsafe try source.reader(of: M.self) else { return }
    var executor = unsafe try QueryExecutor(reader, ResolvedQuery(query, in: source))
    unsafe try executor.forEach(requested: .all) { id, record in
      unsafe try body(reader, id, record)
    }
  }

  /// Returns the objects of a query with a computed sort key.
  ///
  /// Decodes and keeps all matches.
  private func sortedByComputing<M: Model>(_ query: Query<M>) throws -> ArraySlice<M> {
    guard let reader = unsafe try source.reader(of: M.self) else { return [] }
    var ranked: [Ranked<M>] = []
    var executor = unsafe try QueryExecutor(
      reader,
      ResolvedQuery(query, in: source, isOrdered: false)
    )
    unsafe try executor.forEach(requested: .all) { id, record in
      ranked.append(unsafe try Ranked(reader.decode(record, id), query, record, id))
      return true
    }
    ranked.sort { $0.precedes($1, query.orders) }
    let selected = ranked.dropFirst(query.skipCount).prefix(query.takeCount)
    return selected.map(\.object)[...]
  }
}

/// An object with its sort keys.
private struct Ranked<M: Model> {
  let object: M
  let id: UInt64
  /// One key for each sort column; empty for a computed sort key.
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
          return keys[number].precedes(other.keys[number])
        }
      case .computed(let direction, let compare):
        let comparison = compare(object, other.object)
        if comparison != 0 { return (comparison < 0) == (direction == .ascending) }
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

extension ObjectReader where Self: ~Copyable {
  /// Returns the page of query results after a token, or the first page.
  ///
  /// Unlike an offset, a token does not read the preceding results if an index serves the order,
  /// and concurrent insertions and deletions cause no object to be skipped or repeated. Only the
  /// order of a token is checked: use it with the query that returned it. The offset and the limit
  /// of the query have no effect.
  ///
  /// ```swift
  /// var token: PageToken?
  /// repeat {
  ///   let page = try store.read { try $0.page(Note.all, size: 50, after: token) }
  ///   show(page.objects)
  ///   token = page.next
  /// } while token != nil
  /// ```
  ///
  /// - Precondition: `size` is positive, and the query has no computed sort key.
  /// - Throws: ``StoreError`` with `invalidPageToken` when the token belongs to another order,
  ///   `damaged` or `unknownModel`; `CancellationError`.
  /// - Complexity: O(size · log n) if an index serves the condition and the order, otherwise as
  ///   ``fetch(_:)->[M]`` with a limit.
  public func page<M: Model>(
    _ query: Query<M>,
    size: Int,
    after token: PageToken? = nil
  ) throws -> Page<M> {
    precondition(size > 0, "the page size must be positive")
    guard let order = query.sortOrder else {
      preconditionFailure("a query with a computed sort key cannot be paged")
    }
    let fingerprint = order.fingerprint(M.schema)
    guard let reader = unsafe try source.reader(of: M.self) else {
      return Page(objects: [], next: nil)
    }
    // Fetch one more object to find out whether there is another page.
    var core = try ResolvedQuery(
      query.filter,
      in: source,
      order: order,
      takeCount: size == .max ? size : size + 1
    )
    if let token {
      guard token.fingerprint == fingerprint, token.position.keys.count == order.columns.count
      else {
        throw StoreError(
          .invalidPageToken,
          "the page token belongs to another order of \(M.schema.name): start again with the first page"
        )
      }
      core.start = token.position
    }
    var objects: [M] = []
    var last: PagePosition?
    var hasNext = false
    var executor = unsafe try QueryExecutor(reader, core)
    unsafe try executor.forEach(requested: .all) { id, record in
      guard objects.count < size else {
        hasNext = true
        return false
      }
      objects.append(unsafe try reader.decode(record, id))
      if objects.count == size {
        do throws(RecordError) {
          last = try order.position(after: record, id)
        } catch {
          throw StoreError(error, model: M.schema.name, objectID: id)
        }
      }
      return true
    }
    let next = hasNext ? last.map { PageToken($0, fingerprint: fingerprint) } : nil
    return Page(objects: objects, next: next)
  }
}

extension ReaderSource {
  /// Returns the plan of a query.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  func explain<M: Model>(_ query: Query<M>) throws -> QueryPlan {
    let resolved = try query.filter.resolved(in: self)
    let joins = try zip(query.filter.node.semiJoins, resolved.keys).map { join, keys in
      QueryPlan.SemiJoin(
        field: M.schema.fields[join.position].name,
        keyCount: keys.count,
        plan: try join.other.plan(in: self)
      )
    }
    guard let reader = unsafe try reader(of: M.self) else {
      return QueryPlan(ofMissing: M.schema.name, joins)
    }
    let core = ResolvedQuery(query, resolved)
    var plan = unsafe core.plan(reader.tables)
    if query.sortOrder == nil { plan.isOrdered = false }
    return unsafe QueryPlan(
      plan,
      of: reader.tables,
      objectCount: try reader.count(),
      parts: core.parts(reader.tables),
      joins
    )
  }
}

extension QueryPlan {
  /// Creates the plan for a model that the store has no tables for.
  fileprivate init(ofMissing model: String, _ semiJoins: [SemiJoin]) {
    self.init(
      model: model,
      objectCount: 0,
      access: .nothing,
      isOrderServed: true,
      isExact: true,
      readsColdFields: false,
      readsHotFields: false,
      semiJoins: semiJoins
    )
  }
}
