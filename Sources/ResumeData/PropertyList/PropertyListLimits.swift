/// Limits on the size of a property list.
///
/// Property lists are untrusted, and a small one can expand to a huge one: values of the binary format
/// may be shared and may overlap.
///
/// ```swift
/// let limits = PropertyListLimits(byteCount: 64 << 10)
/// let data = try URLSessionResumeData(bytes, limits: limits)
/// ```
public struct PropertyListLimits: Sendable, Hashable {
  /// The maximum length in bytes.
  public var byteCount: Int
  /// The maximum nesting depth of arrays, sets and dictionaries.
  public var depth: Int
  /// The maximum expanded size in bytes: 32 for each value, plus the bytes of strings and data, with
  /// shared values counted each time.
  ///
  /// Bounds the memory for reading and the output of writing.
  public var expandedByteCount: Int

  /// Creates limits.
  ///
  /// The depth is at most 128, because more could overflow a thread's stack.
  public init(
    byteCount: Int = 1 << 20,
    depth: Int = 64,
    expandedByteCount: Int = 4 << 20
  ) {
    self.byteCount = byteCount
    self.depth = min(depth, 128)
    self.expandedByteCount = expandedByteCount
  }

  /// The default limits, far above the few kilobytes of real resume data.
  public static let standard = PropertyListLimits()

  /// The size of a value besides its string or data.
  static let valueCost = 32
}

/// The remainder of ``PropertyListLimits/expandedByteCount``.
struct SizeBudget {
  private(set) var left: Int

  init(_ limits: PropertyListLimits) {
    left = limits.expandedByteCount
  }

  /// Subtracts the size of a value and its payload.
  mutating func spend(values: Int = 1, bytes: Int = 0) throws(ResumeDataError) {
    let (cost, overflows) = values.multipliedReportingOverflow(by: PropertyListLimits.valueCost)
    guard !overflows, cost <= left, bytes <= left - cost else {
      throw ResumeDataError(.tooLarge, "the property list is too large")
    }
    left -= cost + bytes
  }
}
