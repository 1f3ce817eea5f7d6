internal import DownloadStore

/// The members of a group that are further than the store says: those that run, and those that have
/// ended a moment ago, until the store says what has become of them.
///
/// Without the second kind a sum would go back whenever a transfer ends, and come again with the next
/// commit that is seen.
struct LiveMembers: Sendable {
  private struct Entry: Sendable {
    var live: GroupTally.Member
    /// What the store said when it was last seen to run.
    var stored: GroupTally.Member?
  }

  private var entries: [String: Entry] = [:]

  /// Takes the downloads that run now, and returns those that are further than `stored` says.
  mutating func update(
    _ running: [String: GroupTally.Member],
    _ stored: (_ id: String) -> GroupTally.Member?
  ) -> [String: GroupTally.Member] {
    entries = entries.filter { id, entry in
      guard running[id] == nil, let stored = stored(id) else { return false }
      // A checkpoint that is seen late says nothing of the end.
      return stored == entry.stored || stored.state == .running
    }
    for (id, member) in running {
      entries[id] = Entry(live: member, stored: stored(id))
    }
    return entries.mapValues(\.live)
  }
}
