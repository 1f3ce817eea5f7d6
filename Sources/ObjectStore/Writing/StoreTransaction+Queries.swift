extension StoreTransaction {
  /// Removes the objects of the query, and returns how many there were.
  ///
  /// - Throws: ``StoreError`` as ``upsert(_:)``.
  /// - Complexity: As ``ObjectReader/fetch(_:)->[M]``, then O(log n) for each object; their keys are in
  ///   memory meanwhile.
  @discardableResult
  public mutating func delete<M: Model>(_ query: Query<M>) throws -> Int {
    let keys = try fetch(query).map(\.primaryKey)
    for key in keys { try delete(M.self, key) }
    return keys.count
  }

  /// Changes the objects of the query in place, and returns how many there were.
  ///
  /// Which they are is settled before the first is changed.
  ///
  /// - Throws: ``StoreError`` with `keyChanged` when `change` changes a primary key, and as
  ///   ``upsert(_:)``; or what `change` throws.
  /// - Complexity: As ``ObjectReader/fetch(_:)->[M]``, then O(log n) for each object; their keys are in
  ///   memory meanwhile.
  @discardableResult
  public mutating func update<M: Model>(
    _ query: Query<M>,
    _ change: (inout M) throws -> Void
  ) throws -> Int {
    let keys = try fetch(query).map(\.primaryKey)
    for key in keys { try update(M.self, key, change) }
    return keys.count
  }
}
