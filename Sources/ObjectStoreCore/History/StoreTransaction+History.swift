internal import LMDB

extension StoreTransaction {
  /// Appends the changes of the write to the history and returns them.
  ///
  /// It must be the last step before the commit. It returns `nil`, without computing the changes,
  /// when the history is off and the store has no observers.
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
  /// The net changes of each model.
  var historyEntries: [HistoryEntry.ModelEntry] {
    models.compactMap { tables, log in
      let changes = CoalescedChanges(log)
      // `current` is the layout that this program writes, so a model with changes has one.
      guard !changes.isEmpty, let layout = tables.current?.number else { return nil }
      return HistoryEntry.ModelEntry(model: tables.name, layoutNumber: layout, changes: changes)
    }
  }
}
