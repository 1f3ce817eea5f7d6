internal import LMDB

/// How far an observer has seen the commits of a store.
struct CommitPosition: Sendable, Hashable {
  /// The number of the last commit.
  var number: UInt64
  /// The same in the history; `nil` when the store has none.
  var token: HistoryToken?

  init(_ source: ReaderSource) throws {
    number = unsafe source.transaction.id
    token = try source.historyToken()
  }
}

extension ReaderSource {
  /// What commits have done to the objects of a model since an observer looked, from this process's
  /// own memory where it has seen all of them, otherwise from the history; `nil` when neither
  /// knows.
  func changes<M: Model>(
    of model: M.Type,
    from old: CommitPosition,
    to now: CommitPosition,
    _ feed: CommitFeed
  ) throws -> CoalescedChanges? {
    guard let tables = try schema.tables(of: model) else { return CoalescedChanges() }
    if old.number < now.number, let entries = feed.commits(after: old.number, through: now.number) {
      var changes = CoalescedChanges()
      for entry in entries where entry.model == tables.name {
        changes.add(entry.changes(for: tables))
      }
      return changes
    }
    return try old.token.flatMap { try self.changes(since: $0, of: tables) }
  }
}
