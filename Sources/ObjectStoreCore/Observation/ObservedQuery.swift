internal import LMDB

/// The parts of a query that an observation needs: matching, sort keys and dependencies.
///
/// Only this type of the observation code depends on how queries find and order objects.
struct ObservedQuery<Root: Model>: Sendable {
  let query: Query<Root>
  /// The condition with the keys of its semi-joins as of the last ``resolve(in:)``.
  private var condition: Filter<Root>.Resolved
  private let semiJoins: [SemiJoin]

  init(_ query: Query<Root>) {
    self.query = query
    condition = Filter.Resolved(filter: query.filter)
    semiJoins = query.filter.node.semiJoins
  }

  // MARK: Semi-joins

  /// Whether commits between `old` and `now` may have changed the keys of a semi-join.
  func dependsOnChanges(
    _ source: ReaderSource,
    from old: CommitPosition,
    to now: CommitPosition,
    _ feed: CommitFeed
  ) throws -> Bool {
    try semiJoins.contains { join in
      try join.other.mayDiffer(source, from: old, to: now, feed)
    }
  }

  /// Reads the keys of the semi-joins again.
  ///
  /// - Returns: Whether they have changed, so that unchanged objects may now match or not match.
  mutating func resolve(in source: ReaderSource) throws -> Bool {
    guard !semiJoins.isEmpty else { return false }
    let keys = condition.keys
    condition = try query.filter.resolved(in: source)
    return condition.keys != keys
  }

  // MARK: Objects

  /// Whether the membership and position of an object depend only on its own record.
  var isIncremental: Bool {
    query.sortOrder != nil && query.limit == nil && query.offset <= 0
  }

  /// Whether the result is sorted by object id.
  var isOrderedByID: Bool { query.sortOrder?.isStored == true }

  /// Whether the record satisfies the condition.
  func matches(_ record: borrowing RecordView, _ id: UInt64) throws -> Bool {
    try translating(id) { () throws(RecordError) in try condition.matches(record) }
  }

  /// Returns bytes that compare in the order of the query, with ties broken by id.
  ///
  /// Empty if the result is sorted by id, or if the query is not incremental.
  func sortKey(_ record: borrowing RecordView, _ id: UInt64) throws -> [UInt8] {
    guard isIncremental, !isOrderedByID else { return [] }
    return try translating(id) { () throws(RecordError) in try query.sortKey(of: record, id: id) }
  }

  /// Runs the query with the resolved condition, and calls `body` with each object and its sort key
  /// in order.
  func forEach(
    in snapshot: borrowing Snapshot,
    _ body: (ResultSnapshot<Root>.Entry, _ key: [UInt8]) -> Void
  ) throws {
    var query = query
    query.filter = condition.filter
    guard query.sortOrder == nil else {
      return unsafe try snapshot.forEachRecord(query) { reader, id, record in
        let object: Root = unsafe try reader.decode(record, id)
        body(ResultSnapshot.Entry(id: id, object: object), try sortKey(record, id))
        return true
      }
    }
    guard let reader = unsafe try snapshot.source.reader(of: Root.self) else { return }
    // The query sorts by values computed from objects, so its ids must be looked up afterwards.
    for object in try snapshot.fetch(query) {
      try unsafe object.primaryKey.withStoredBytes { key in
        guard let id = unsafe try reader.objectID(of: key) else {
          throw StoreError(.damaged, "an object of \(Root.schema.name) has no key table entry")
        }
        body(ResultSnapshot.Entry(id: id, object: object), [])
      }
    }
  }

  private func translating<R>(
    _ id: UInt64,
    _ body: () throws(RecordError) -> R
  ) throws -> R {
    do throws(RecordError) {
      return try body()
    } catch {
      throw StoreError(error, model: Root.schema.name, objectID: id)
    }
  }
}
