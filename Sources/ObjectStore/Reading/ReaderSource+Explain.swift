extension ReaderSource {
  /// How a query finds its objects.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  func explain<M: Model>(_ query: Query<M>) throws -> QueryPlan {
    let resolved = try query.predicate.resolved(in: self)
    let joins = try zip(query.predicate.node.semiJoins, resolved.keys).map { join, keys in
      QueryPlan.SemiJoin(
        field: M.schema.fields[join.position].name,
        keyCount: keys.count,
        plan: try join.other.plan(in: self)
      )
    }
    guard let reader = unsafe try reader(of: M.self) else {
      return QueryPlan(ofMissing: M.schema.name, joins)
    }
    let core = QueryCore(query, resolved.predicate)
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
  /// The plan for a model that the store has never seen.
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
