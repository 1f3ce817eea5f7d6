/// The objects of a query in the order of a computed key, as ``ObjectReader/sorted(_:_:by:)``
/// returns them.
///
/// Holds eight bytes per object, not the objects.
public struct SortedObjects<Root: Model>: Sendable {
  let ids: [UInt64]

  /// The number of objects.
  public var count: Int { ids.count }
}

extension ObjectReader where Self: ~Copyable {
  /// Sorts the objects that a query finds by a key computed from some of their fields.
  ///
  /// Decodes only the fields that `key` accesses, and reads only the record parts that contain them
  /// or that the condition tests. With a limit, only as many keys as offset and limit require are in
  /// memory; without one, all keys, and 20 bytes for each. The order of the query has no effect.
  ///
  /// ```swift
  /// let longest = try tx.sorted(Note.all.limit(10), .descending) { note in
  ///   SortKey(try note.text.count)
  /// }
  /// try tx.forEach(longest) { note in
  ///   print(note.text)
  ///   return true
  /// }
  /// ```
  ///
  /// To sort by a stored field, use ``Query/order(by:_:)-(KeyPath<Root.Columns,Column<Root,Value>>,_)``,
  /// which an index can serve.
  ///
  /// - Parameters:
  ///   - query: The condition, the offset and the limit.
  ///   - direction: The direction of the sort.
  ///   - key: Returns the key of an object, or `nil` for an object without a value. These come last
  ///     in both directions; objects with equal keys come in insertion order in both directions.
  /// - Returns: The objects in order.
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`, or the error of `key`;
  ///   `CancellationError`.
  /// - Complexity: O(n log k) for n matches and k sorted objects, besides finding the matches.
  public func sorted<M: Model>(
    _ query: Query<M>,
    _ direction: SortDirection = .ascending,
    by key: (inout ObjectView<M>) throws -> SortKey?
  ) throws -> SortedObjects<M> {
    guard query.takeCount > 0, let reader = unsafe try source.reader(of: M.self) else {
      return SortedObjects(ids: [])
    }
    var keys = KeySelection(limit: query.neededCount)
    var bytes = ByteWriter()
    // Parts that `key` accessed for earlier objects are read up front for later ones.
    var accessedParts: RecordParts = []
    var executor = unsafe try QueryExecutor(reader, ResolvedQuery(query.filter, in: source))
    unsafe try executor.forEach(requested: accessedParts) { id, record in
      var view = unsafe ObjectView<M>(reader, id, copyOf: record)
      SortKey.write(try key(&view), id, direction, to: &bytes)
      _ = unsafe keys.insert(bytes.buffer)
      accessedParts.formUnion(view.accessedParts)
      return true
    }
    let ids = keys.sortedIDs()
    return SortedObjects(ids: query.skipCount == 0 ? ids : Array(ids.dropFirst(query.skipCount)))
  }

  /// Calls `body` with each of the sorted objects in order, until `body` returns `false`.
  ///
  /// Objects are decoded one at a time. Those that were deleted since they were sorted are skipped,
  /// so the order can also be used in a later transaction.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`, or the error of `body`;
  ///   `CancellationError`.
  /// - Complexity: O(k log n) for k sorted objects of n in the store.
  public func forEach<M: Model>(
    _ objects: SortedObjects<M>,
    _ body: (M) throws -> Bool
  ) throws {
    guard let reader = unsafe try source.reader(of: M.self) else { return }
    var records = unsafe try RecordLookup(reader)
    var cancellation = CancellationCheck()
    for id in objects.ids {
      try cancellation.step()
      guard let record = unsafe try records.record(id, parts: .all) else { continue }
      guard try body(unsafe reader.decode(record, id)) else { return }
    }
  }
}
