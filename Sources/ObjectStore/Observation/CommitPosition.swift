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

/// What commits have done to the objects of a model.
struct CommittedChanges {
  /// Taken together.
  var all = CoalescedChanges()
  /// Without the commits of which the observer is not to hear.
  var heard = CoalescedChanges()
}

extension ReaderSource {
  /// What commits have done to the objects of a model since an observer looked, from this process's
  /// own memory where it has seen all of them, otherwise from the history; `nil` when neither
  /// knows.
  func changes<M: Model>(
    of model: M.Type,
    from old: CommitPosition,
    to now: CommitPosition,
    _ feed: CommitFeed,
    unheard: Set<UInt64> = []
  ) throws -> CommittedChanges? {
    var changes = CommittedChanges()
    guard let tables = try schema.tables(of: model) else { return changes }
    func add(_ number: UInt64, _ entries: [HistoryEntry.ModelEntry]) {
      for entry in entries where entry.model == tables.name {
        let own = entry.changes(for: tables)
        changes.all.add(own)
        if !unheard.contains(number) { changes.heard.add(own) }
      }
    }
    if old.number < now.number, let commits = feed.commits(after: old.number, through: now.number) {
      for commit in commits { add(commit.number, commit.models) }
      return changes
    }
    guard let token = old.token, let history = schema.history,
      unsafe try history.reaches(token, in: transaction)
    else { return nil }
    unsafe try history.forEach(
      after: token.number,
      of: tables.name,
      in: unsafe transaction
    ) { number, entry in
      add(number, entry.models)
    }
    return changes
  }
}
