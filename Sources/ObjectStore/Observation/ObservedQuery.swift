internal import LMDB

/// What an observation must know of its query.
///
/// The one place that depends on how queries find and order their objects.
struct ObservedQuery<Root: Model>: Sendable {
  let query: Query<Root>
  /// The condition as of the last look at the other models that it speaks of.
  private var condition: Predicate<Root>.Resolved
  private let semiJoins: [SemiJoin]

  init(_ query: Query<Root>) {
    self.query = query
    condition = Predicate.Resolved(predicate: query.predicate)
    semiJoins = query.predicate.node.semiJoins
  }

  // MARK: Other models

  /// Whether commits between the two may have changed, at the other ends of references, which
  /// objects match.
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

  /// Looks at the other models; says whether objects that have not changed may match now that did
  /// not, or the other way round.
  mutating func resolve(in source: ReaderSource) throws -> Bool {
    guard !semiJoins.isEmpty else { return false }
    let keys = condition.keys
    condition = try query.predicate.resolved(in: source)
    return condition.keys != keys
  }

  // MARK: Objects

  /// Whether an object's membership and place follow from its own record, so that a change of it
  /// needs no look at others.
  var isIncremental: Bool {
    query.sortOrder != nil && query.limit == nil && query.offset <= 0
  }

  /// Whether objects are in the order of their ids.
  var isOrderedByID: Bool { query.sortOrder?.isStored == true }

  /// Whether the record meets the condition.
  func matches(_ record: borrowing RecordView, _ id: UInt64) throws -> Bool {
    try translating(id) { () throws(RecordError) in try condition.predicate.matches(record) }
  }

  /// Bytes of which the order is that of the query, ties settled by the id.
  ///
  /// Empty when that is the order of ids, and when the query must be run again anyway.
  func sortKey(_ record: borrowing RecordView, _ id: UInt64) throws -> [UInt8] {
    guard isIncremental, !isOrderedByID else { return [] }
    return try translating(id) { () throws(RecordError) in try query.sortKey(of: record, id: id) }
  }

  /// Runs the query with the other models as last looked at; lends each object with its sort key, in
  /// order.
  func forEach(
    in snapshot: borrowing Snapshot,
    _ body: (ResultSnapshot<Root>.Entry, _ key: [UInt8]) -> Void
  ) throws {
    var query = query
    query.predicate = condition.predicate
    guard query.sortOrder == nil else {
      return unsafe try snapshot.forEachRecord(query) { reader, id, record in
        let object: Root = unsafe try reader.decode(record, id)
        body(ResultSnapshot.Entry(id: id, object: object), try sortKey(record, id))
        return true
      }
    }
    guard let reader = unsafe try snapshot.source.reader(of: Root.self) else { return }
    // Sorted by values that are computed from whole objects: the ids are looked up after.
    for object in try snapshot.fetch(query) {
      try unsafe object.primaryKey.withStoredBytes { key in
        guard let id = unsafe try reader.objectID(of: key) else {
          throw StoreError(.damaged, "an object of \(Root.schema.name) is not under its key")
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
