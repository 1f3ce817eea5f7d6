extension ObjectReader where Self: ~Copyable {
  /// The next objects of a query after a page that ended at `token`, or its first ones.
  ///
  /// Unlike an offset, a token costs nothing for what lies before it where an index serves the
  /// order, and no object is left out or given twice because others came or went. The offset and the
  /// limit of the query do not count.
  ///
  /// - Precondition: `size` is positive, and the query is in no order by computed values.
  /// - Throws: ``StoreError`` with `invalidPageToken` (the token is of another order), `damaged` or
  ///   `unknownModel`; `CancellationError`.
  /// - Complexity: O(size · log n) where an index serves the condition and the order, otherwise as
  ///   ``fetch(_:)->[M]`` with a limit.
  public func page<M: Model>(
    _ query: Query<M>,
    size: Int,
    after token: PageToken? = nil
  ) throws -> Page<M> {
    precondition(size > 0, "a page has one object at least")
    guard let order = query.sortOrder else {
      preconditionFailure("a query in an order by computed values has no pages")
    }
    let fingerprint = order.fingerprint(M.schema)
    guard let reader = unsafe try source.reader(of: M.self) else {
      return Page(objects: [], next: nil)
    }
    // One more tells whether there is a page after this one.
    var core = try QueryCore(
      query.predicate,
      in: source,
      order: order,
      takeCount: size == .max ? size : size + 1
    )
    if let token {
      guard token.fingerprint == fingerprint, token.position.keys.count == order.columns.count
      else {
        throw StoreError(
          .invalidPageToken,
          "a page of \(M.schema.name) is asked for with the token of another order"
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
