internal import LMDB

extension StoreTransaction {
  /// Adds what the write has changed to the history, and returns it; the last thing before the
  /// commit.
  ///
  /// Without a history, and when nobody observes, it is not made: `nil`.
  mutating func recordHistory(
    limit: HistoryLimit,
    isObserved: Bool
  ) throws -> [HistoryEntry.ModelEntry]? {
    let changes = state.changes
    guard !changes.isEmpty else { return [] }
    if limit.isOff {
      try state.schema.history?.stop(in: &transaction)
      return isObserved ? changes.historyEntries : nil
    }
    let entries = changes.historyEntries
    try state.schema.history?.append(entries, limit: limit, in: &transaction)
    return entries
  }
}

extension ChangesByModel {
  /// What is left when each object is counted once.
  var historyEntries: [HistoryEntry.ModelEntry] {
    models.compactMap { tables, log in
      let changes = CoalescedChanges(log)
      // Whoever writes has a layout to write in.
      guard !changes.isEmpty, let layout = tables.current?.number else { return nil }
      return HistoryEntry.ModelEntry(model: tables.name, layoutNumber: layout, changes: changes)
    }
  }
}
