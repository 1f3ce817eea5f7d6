/// The summed progress of a group of downloads.
///
/// A size becomes known when its download starts, so the sum of the known sizes grows. Therefore
/// ``received`` counts all members, ``expected`` only members of known size, and ``unknownTotals``
/// is the number of the others.
///
/// ```swift
/// let progress = try store.group("models").progress()
/// print(progress.completed, "of", progress.members, "files,", progress.received, "bytes")
/// if let percentage = progress.estimate.percentage { print(percentage, "%") }
/// ```
public struct GroupProgress: Sendable, Hashable {
  /// The number of members, without cancelled and removed ones.
  public var members = 0
  /// The number of completed members.
  public var completed = 0
  /// The number of permanently failed members.
  public var failed = 0
  /// The number of paused members.
  public var paused = 0
  /// The number of members that are transferring or whose file is being renamed.
  public var running = 0
  /// The bytes received of all members.
  public var received: Int64 = 0
  /// The bytes received of the members of known size.
  package var receivedOfKnown: Int64 = 0
  /// The sum of the known sizes in bytes.
  public var expected: Int64 = 0
  /// The number of members of unknown size.
  public var unknownTotals = 0
  /// The speed in bytes per second; `nil` before it can be measured, and for a group at rest.
  public var bytesPerSecond: Double?

  /// The progress of an empty group.
  package init() {}

  /// The number of members that wait for a slot or a retry.
  public var waiting: Int { members - completed - failed - paused - running }

  /// Whether no member will continue without a command.
  public var isAtRest: Bool { running == 0 && waiting == 0 }

  /// Bytes, speed and remaining time; without a size until every member's size is known.
  public var estimate: ProgressEstimate {
    ProgressEstimate(
      received: received,
      expected: unknownTotals == 0 && members > 0 ? expected : nil,
      bytesPerSecond: bytesPerSecond
    )
  }

  /// The fraction received, 0...1; `nil` until every member's size is known.
  public var fraction: Double? { estimate.fraction }

  /// The fraction received of the known sizes, 0...1; `nil` if no size is known.
  ///
  /// Decreases when another size becomes known. Use ``MonotonicProgress`` for display.
  public var fractionOfKnown: Double? {
    guard members > unknownTotals else { return nil }
    return ProgressEstimate(received: receivedOfKnown, expected: expected).fraction
  }
}

/// A group's fraction for display, which does not decrease while its members stay the same.
///
/// The fraction of the known sizes decreases when another size becomes known. This value then stays
/// until it is exceeded. It decreases only if the members change or bytes are dropped, and reaches
/// 1 only when every member is complete.
///
/// ```swift
/// var fraction = MonotonicProgress()
/// for try await progress in store.group("models").changes() {
///   bar.value = fraction.update(progress) ?? 0
/// }
/// ```
public struct MonotonicProgress: Sendable {
  private var last: GroupProgress?
  /// The fraction to display, 0...1; `nil` if no size is known.
  public private(set) var value: Double?

  /// Creates a fraction without a value.
  public init() {}

  /// Updates the fraction with the group's progress, and returns it.
  @discardableResult
  public mutating func update(_ progress: GroupProgress) -> Double? {
    let isSame = last.map { $0.members == progress.members && $0.received <= progress.received }
    last = progress
    guard let fraction = progress.fractionOfKnown else {
      value = nil
      return nil
    }
    let isComplete = progress.completed == progress.members
    // An incomplete group shows at most 99 %.
    let shown = isComplete ? 1 : min(fraction, 0.99)
    value = isSame == true ? max(value ?? 0, shown) : shown
    return value
  }
}
