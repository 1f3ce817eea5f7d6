/// How far a group of downloads is, in sums.
///
/// Sizes are said by servers one by one, so that a sum of those that are known grows while members
/// start. What is known and what is not are therefore apart: ``received`` counts every member,
/// ``expected`` those whose size is known, ``unknownTotals`` is the number of the others.
public struct GroupProgress: Sendable, Hashable {
  /// The members; those that somebody gave up are not among them.
  public var members = 0
  /// The members that are complete.
  public var completed = 0
  /// The members that failed for good.
  public var failed = 0
  /// The members that somebody holds.
  public var paused = 0
  /// The members whose transfer is under way, or whose file is about to get its name.
  public var running = 0
  /// The bytes that are there, of all members.
  public var received: Int64 = 0
  /// The bytes that are there, of the members whose size is known.
  public var receivedOfKnown: Int64 = 0
  /// The sum of the sizes that are known, in bytes.
  public var expected: Int64 = 0
  /// The members whose size is not known.
  public var unknownTotals = 0
  /// How fast bytes arrive; `nil` until there is something to measure, and for a group at rest.
  public var bytesPerSecond: Double?

  /// A group of no members.
  public init() {}

  /// The members that wait for their turn or their next try.
  public var waiting: Int { members - completed - failed - paused - running }

  /// Whether no member has anything left to do by itself.
  public var isAtRest: Bool { running == 0 && waiting == 0 }

  /// Bytes, speed and time left; without a size as long as one member's is not known.
  public var estimate: ProgressEstimate {
    ProgressEstimate(
      received: received,
      expected: unknownTotals == 0 && members > 0 ? expected : nil,
      bytesPerSecond: bytesPerSecond
    )
  }

  /// The part that is there, from 0 to 1; `nil` as long as the size of one member is not known.
  public var fraction: Double? { estimate.fraction }

  /// The part that is there of what is known, from 0 to 1; `nil` when no size is known.
  ///
  /// Falls when the size of a member becomes known. ``SteadyFraction`` is for showing it.
  public var fractionOfKnown: Double? {
    guard members > unknownTotals else { return nil }
    return ProgressEstimate(received: receivedOfKnown, expected: expected).fraction
  }
}
