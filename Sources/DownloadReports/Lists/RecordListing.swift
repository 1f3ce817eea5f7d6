package import DownloadStore
package import ObjectStore

/// Calls a closure with each download of a list, in order; every call gives the same downloads.
package typealias EntryStream = ((DownloadEntry) throws -> Void) throws -> Void

/// The downloads that a list shows: a condition, an order and a limit.
package struct RecordListing: Sendable {
  package var condition: Filter<DownloadRecord>
  /// The order; `nil` for the order in which the downloads were added.
  package var order: ListOrder?
  package var limit: Int?
  /// Whether an engine runs on the store, on which the shown states depend.
  package var engineRuns = true

  /// Creates a list of all downloads that match a condition.
  package init(
    condition: Filter<DownloadRecord>,
    order: ListOrder? = nil,
    limit: Int? = nil,
    engineRuns: Bool = true
  ) {
    self.condition = condition
    self.order = order
    self.limit = limit
    self.engineRuns = engineRuns
  }

  private var query: Query<DownloadRecord> {
    var query = Query(condition)
    query.limit = limit
    return query
  }

  /// Calls `body` with the downloads, which are read from one snapshot as they are used.
  ///
  /// At most one decoded record is in memory. The snapshot is open until `body` returns.
  ///
  /// - Throws: `StoreError`; the error of `body`.
  package func read<R>(_ store: RecordStore, _ body: (EntryStream) throws -> R) throws -> R {
    let roots = try store.roots()
    return try store.objects.read { tx in try read(in: &tx, roots, body) }
  }

  /// Calls `body` with the downloads of a snapshot.
  ///
  /// - Throws: As ``read(_:_:)``.
  package func read<R>(
    in tx: inout Snapshot,
    _ roots: Roots,
    _ body: (EntryStream) throws -> R
  ) throws -> R {
    if let order, limit == nil || order.indexed(query) == nil {
      let objects = try order.sorted(query, in: &tx, roots, engineRuns: engineRuns)
      return try body { visit in
        try tx.forEach(objects) { record in
          try visit(DownloadEntry(record, roots, engineRuns: engineRuns))
          return true
        }
      }
    }
    let query = order?.indexed(query) ?? query
    return try body { visit in
      try tx.forEach(query) { record in
        try visit(DownloadEntry(record, roots, engineRuns: engineRuns))
        return true
      }
    }
  }
}
