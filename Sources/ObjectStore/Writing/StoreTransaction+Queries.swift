extension StoreTransaction {
  /// Removes the objects of the query, and returns how many there were.
  ///
  /// - Throws: ``StoreError`` as ``upsert(_:)``.
  /// - Complexity: As ``ObjectReader/forEach(_:_:)``, then O(log n) for each object; their keys are
  ///   in memory meanwhile.
  @discardableResult
  public mutating func delete<M: Model>(_ query: Query<M>) throws -> Int {
    let keys = try keys(of: query)
    for key in keys { try delete(M.self, key) }
    return keys.count
  }

  /// Changes the objects of the query in place, and returns how many there were.
  ///
  /// Which they are is settled before the first is changed.
  ///
  /// - Throws: ``StoreError`` with `keyChanged` when `change` changes a primary key, and as
  ///   ``upsert(_:)``; or what `change` throws.
  /// - Complexity: As ``ObjectReader/forEach(_:_:)``, then O(log n) for each object; their keys are
  ///   in memory meanwhile.
  @discardableResult
  public mutating func update<M: Model>(
    _ query: Query<M>,
    _ change: (inout M) throws -> Void
  ) throws -> Int {
    let keys = try keys(of: query)
    for key in keys { try update(M.self, key, change) }
    return keys.count
  }

  /// Which objects a query is about, before any of them changes.
  private func keys<M: Model>(of query: Query<M>) throws -> [M.PrimaryKey] {
    var keys: [M.PrimaryKey] = []
    try forEach(query) { object in
      keys.append(object.primaryKey)
      return true
    }
    return keys
  }
}
