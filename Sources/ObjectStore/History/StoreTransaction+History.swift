internal import LMDB

extension StoreTransaction {
  /// Adds what the write has changed to the history; the last thing before the commit.
  mutating func recordHistory(limit: HistoryLimit) throws {
    guard let history = state.schema.history else { return }
    let changes = state.changes
    guard !changes.isEmpty else { return }
    guard !limit.isOff else { return try history.stop(in: &transaction) }
    try history.append(changes.historyEntries, limit: limit, in: &transaction)
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
