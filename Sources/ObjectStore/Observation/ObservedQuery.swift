internal import LMDB

/// What an observation must know of its query.
///
/// The one place that depends on how queries find and order their objects.
struct ObservedQuery<Root: Model>: Sendable {
  let query: Query<Root>

  /// Whether an object's membership and place follow from its own record, so that a change of it
  /// needs no look at others.
  var isIncremental: Bool {
    query.order.isEmpty && query.takeCount == .max && query.skipCount == 0
  }

  /// Whether objects are in the order of their ids.
  var isOrderedByID: Bool { query.order.isEmpty }

  /// Whether the record meets the condition.
  func matches(_ record: borrowing RecordView, _ id: UInt64) throws -> Bool {
    try translating(id) { () throws(RecordError) in try query.predicate.matches(record) }
  }

  /// Bytes of which the order is that of the query, ties settled by the id; empty when that is the
  /// order of ids.
  func sortKey(_ record: borrowing RecordView, _ id: UInt64) throws -> [UInt8] {
    []
  }

  /// Runs the query.
  func entries(in snapshot: borrowing Snapshot) throws -> [ResultSnapshot<Root>.Entry] {
    guard let reader = unsafe try snapshot.source.reader(of: Root.self) else { return [] }
    var entries: [ResultSnapshot<Root>.Entry] = []
    guard isOrderedByID else {
      for object in try snapshot.fetch(query) {
        unsafe try object.primaryKey.withStoredBytes { key in
          guard let id = unsafe try reader.objectID(of: key) else {
            throw StoreError(.damaged, "an object of \(Root.schema.name) is not under its key")
          }
          entries.append(ResultSnapshot.Entry(id: id, object: object))
        }
      }
      return entries
    }
    guard query.takeCount > 0 else { return [] }
    var skipped = 0
    unsafe try reader.forEachMatch(query.predicate) { id, record in
      guard skipped >= query.skipCount else {
        skipped += 1
        return true
      }
      entries.append(ResultSnapshot.Entry(id: id, object: unsafe try reader.decode(record, id)))
      return entries.count < query.takeCount
    }
    return entries
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
