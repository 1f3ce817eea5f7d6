internal import DownloadStore

/// The members of a group whose progress is newer than the stored one.
///
/// These are the running downloads, and those that have just ended, until the observation sees the
/// commit of their end. Without the latter a sum would drop when a transfer ends, and rise again
/// with that commit.
struct LiveMembers: Sendable {
  private struct Entry: Sendable {
    var live: GroupTally.Member
    /// The stored values when the download was last seen running.
    var stored: GroupTally.Member?
  }

  private var entries: [String: Entry] = [:]

  /// Replaces the running downloads, and returns all members whose progress is newer than the
  /// stored one.
  ///
  /// - Parameters:
  ///   - running: The running members of the group by record id.
  ///   - stored: Returns the stored values of a member; `nil` if the record is not a member.
  /// - Returns: The newer values by record id.
  mutating func update(
    _ running: [String: GroupTally.Member],
    _ stored: (_ id: String) -> GroupTally.Member?
  ) -> [String: GroupTally.Member] {
    entries = entries.filter { id, entry in
      guard running[id] == nil, let stored = stored(id) else { return false }
      // A checkpoint that is observed after the end of the transfer is not the commit of the end.
      return stored == entry.stored || stored.state == .running
    }
    for (id, member) in running {
      entries[id] = Entry(live: member, stored: stored(id))
    }
    return entries.mapValues(\.live)
  }
}
