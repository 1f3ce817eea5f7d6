/// A group's fraction for display, which does not decrease while its members stay the same.
///
/// The fraction of the known sizes decreases when another size becomes known. This value then stays
/// until it is exceeded. It decreases only if the members change or bytes are dropped, and reaches
/// 1 only when every member is complete.
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
