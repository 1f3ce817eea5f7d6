/// Sums up a group, and changes the sums by what changes.
///
/// A member that changes costs one look-up, however many there are.
public struct GroupTally: Sendable {
  /// What one member adds to the sums.
  public struct Member: Sendable, Hashable {
    /// How far it is.
    public var state: DownloadState
    /// The bytes that are there.
    public var received: Int64
    /// The size in bytes, if it is known.
    public var expected: Int64?

    /// Describes a member; sizes that cannot be right are not taken over.
    public init(state: DownloadState, received: Int64, expected: Int64?) {
      self.state = state
      self.received = max(0, received)
      self.expected = expected.flatMap { $0 >= max(0, received) ? $0 : nil }
    }

    /// What a record adds.
    public init(_ record: DownloadRecord) {
      self.init(state: record.state, received: record.received, expected: record.expected)
    }

    /// Whether somebody gave it up, so that it adds nothing.
    var isGivenUp: Bool { state == .cancelled || state == .removed }
  }

  /// The sums of some members.
  private struct Sums {
    var counts = GroupProgress()
    // Sizes are what servers say, so that their sum may be larger than any disk.
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
      guard let member, !member.isGivenUp else { return }
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

  /// A tally of nothing.
  public init() {}

  /// The sums, without a speed.
  public var progress: GroupProgress { sums.progress }

  /// The sums as they are when some members are further than the tally knows; without a speed.
  ///
  /// Who is no member is left out.
  ///
  /// - Complexity: O(those that are given).
  public func progress(with others: [String: Member]) -> GroupProgress {
    var sums = sums
    for (id, member) in others {
      guard let known = members[id] else { continue }
      sums.add(known, -1)
      sums.add(member, 1)
    }
    return sums.progress
  }

  /// The bytes that have arrived since the tally was begun; never less than before.
  ///
  /// For measuring: what members bring along when they come does not count, nor what is dropped.
  public var arrived: Int64 { Int64(clamping: arrivedBytes) }

  /// The member of a record's id.
  public subscript(id: String) -> Member? {
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
