package import ObjectStore

/// Brings a tally from one result of a query to the next.
package struct GroupFollower: Sendable {
  /// The members as of the last change.
  package private(set) var tally = GroupTally()
  private var records = ResultSnapshot<DownloadRecord>()

  /// Follows nothing yet.
  package init() {}

  /// Takes the differences; the first change has all records.
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
