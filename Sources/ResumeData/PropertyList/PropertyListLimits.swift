/// How much a property list may hold.
///
/// Property lists come from outside, and a small one can stand for a huge one: values of the binary
/// format may be shared and lie on top of each other.
public struct PropertyListLimits: Sendable, Hashable {
  /// The longest that is read, in bytes.
  public var byteCount: Int
  /// The deepest nesting of arrays, sets and dictionaries.
  public var depth: Int
  /// The largest that one may become, in bytes: 32 for each value, and those of text and data, with
  /// what is shared counted each time.
  ///
  /// Bounds the memory for reading one, and what is written of one.
  public var expandedByteCount: Int

  /// Sets limits; depth is at most 128, since deeper ones could use up the stack of a thread.
  public init(
    byteCount: Int = 1 << 20,
    depth: Int = 64,
    expandedByteCount: Int = 4 << 20
  ) {
    self.byteCount = byteCount
    self.depth = min(depth, 128)
    self.expandedByteCount = expandedByteCount
  }

  /// Far more than any resume data needs, which has some kilobytes.
  public static let standard = PropertyListLimits()

  /// What a value counts besides its text or data.
  static let valueCost = 32
}

/// What is left of ``PropertyListLimits/expandedByteCount``.
struct SizeBudget {
  private(set) var left: Int

  init(_ limits: PropertyListLimits) {
    left = limits.expandedByteCount
  }

  /// Takes what a value and its payload cost.
  mutating func spend(values: Int = 1, bytes: Int = 0) throws(ResumeDataError) {
    let (cost, overflows) = values.multipliedReportingOverflow(by: PropertyListLimits.valueCost)
    guard !overflows, cost <= left, bytes <= left - cost else {
      throw ResumeDataError(.tooLarge, "the property list is too large")
    }
    left -= cost + bytes
  }
}
