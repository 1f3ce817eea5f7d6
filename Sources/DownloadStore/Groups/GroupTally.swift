package import ObjectStore

/// The sums of a group, updated incrementally.
///
/// A changed member costs one lookup, whatever the size of the group.
package struct GroupTally: Sendable {
  /// One member's part of the sums.
  package struct Member: Sendable, Hashable {
    /// The member's state.
    package var state: DownloadState
    /// The bytes received.
    package var received: Int64
    /// The size in bytes; `nil` if unknown.
    package var expected: Int64?

    /// Creates a member; invalid sizes are ignored.
    package init(state: DownloadState, received: Int64, expected: Int64?) {
      self.state = state
      self.received = max(0, received)
      self.expected = expected.flatMap { $0 >= max(0, received) ? $0 : nil }
    }

    /// Creates the member of a record.
    package init(_ record: DownloadRecord) {
      self.init(state: record.state, received: record.received, expected: record.expected)
    }

    /// Whether the download is cancelled or removed and does not count.
    var isCancelledOrRemoved: Bool { state.isGone }
  }

  /// Sums of members.
  private struct Sums {
    var counts = GroupProgress()
    // Sizes come from servers, so their sum may overflow.
    var received: Int128 = 0
    var receivedOfKnown: Int128 = 0
    var expected: Int128 = 0

    var progress: GroupProgress {
      var progress = counts
      progress.received = Int64(clamping: received)
      progress.receivedOfKnown = Int64(clamping: receivedOfKnown)
      progress.expected = Int64(clamping: expected)
      return progress
    }

    mutating func add(_ member: Member?, _ sign: Int) {
      guard let member, !member.isCancelledOrRemoved else { return }
      counts.members += sign
      received += Int128(member.received) * Int128(sign)
      if let size = member.expected {
        expected += Int128(size) * Int128(sign)
        receivedOfKnown += Int128(member.received) * Int128(sign)
      } else {
        counts.unknownTotals += sign
      }
      switch member.state {
      case .completed: counts.completed += sign
      case .failedPermanent: counts.failed += sign
      case .paused: counts.paused += sign
      case .running, .finalizing: counts.running += sign
      case .waiting, .failedRetryable, .cancelled, .removed: break
      }
    }
  }

  private var members: [String: Member] = [:]
  private var sums = Sums()
  private var arrivedBytes: Int128 = 0

  /// Creates an empty tally.
  package init() {}

  /// The sums, without a speed.
  package var progress: GroupProgress { sums.progress }

  /// The sums with newer values for some members; without a speed.
  ///
  /// Records that are not members are ignored.
  ///
  /// - Complexity: O(given members).
  package func progress(with others: [String: Member]) -> GroupProgress {
    var sums = sums
    for (id, member) in others {
      guard let known = members[id] else { continue }
      sums.add(known, -1)
      sums.add(member, 1)
    }
    return sums.progress
  }

  /// The bytes that arrived since the tally was created; never decreases.
  ///
  /// For measuring the speed: bytes of new members and dropped bytes do not count.
  package var arrived: Int64 { Int64(clamping: arrivedBytes) }

  /// The member with a record's id.
  package subscript(id: String) -> Member? {
    get { members[id] }
    set {
      let old = members[id]
      guard old != newValue else { return }
      sums.add(old, -1)
      sums.add(newValue, 1)
      if let old, let newValue {
        arrivedBytes += Int128(max(0, newValue.received - old.received))
      }
      members[id] = newValue
    }
  }
}

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
