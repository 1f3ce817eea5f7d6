package import ObjectStore

/// Updates a tally with the changes of an observed query.
package struct GroupFollower: Sendable {
  /// The members after the last change.
  package private(set) var tally = GroupTally()
  private var records = ResultSnapshot<DownloadRecord>()

  /// Creates a follower without members.
  package init() {}

  /// Applies a change; the first change contains all records.
  package mutating func follow(_ change: ResultChange<DownloadRecord>) {
    for place in change.deletions { tally[records[place].id] = nil }
    records = change.snapshot
    if change.isInitial {
      for record in records { tally[record.id] = GroupTally.Member(record) }
    }
    for place in change.insertions + change.modifications {
      let record = records[place]
      tally[record.id] = GroupTally.Member(record)
    }
  }
}
