/// A group's fraction as it is shown: it does not go back while the same members go on.
///
/// The fraction of what is known falls whenever another size becomes known, although nothing was
/// lost. This one stands still then, and goes on when it has been overtaken. It goes back only for a
/// reason that can be named: other members, or bytes that were dropped. It is whole only when every
/// member is complete.
public struct SteadyFraction: Sendable {
  private var last: GroupProgress?
  /// What is to be shown, from 0 to 1; `nil` while no size is known.
  public private(set) var value: Double?

  /// Shows nothing yet.
  public init() {}

  /// Takes the next look at the group, and returns what is to be shown.
  @discardableResult
  public mutating func update(_ progress: GroupProgress) -> Double? {
    let isSame = last.map { $0.members == progress.members && $0.received <= progress.received }
    last = progress
    guard let fraction = progress.fractionOfKnown else {
      value = nil
      return nil
    }
    let isComplete = progress.completed == progress.members
    // What is not complete must not look as if it were: 99 % is the most then.
    let shown = isComplete ? 1 : min(fraction, 0.99)
    value = isSame == true ? max(value ?? 0, shown) : shown
    return value
  }
}
