/// The progress, speed and remaining time of a download or a group.
///
/// ```swift
/// let estimate = ProgressEstimate(received: 750, expected: 1_000, bytesPerSecond: 50)
/// print(estimate.percentage ?? 0, "%")          // 75 %
/// print(estimate.remaining ?? .zero, "left")    // 5.0 seconds left
/// ```
public struct ProgressEstimate: Sendable, Hashable {
  /// The bytes received.
  public var received: Int64
  /// The total size in bytes; `nil` if unknown.
  public var expected: Int64?
  /// The speed in bytes per second; `nil` before it can be measured.
  public var bytesPerSecond: Double?

  /// Creates an estimate.
  public init(received: Int64, expected: Int64? = nil, bytesPerSecond: Double? = nil) {
    self.received = received
    self.expected = expected
    self.bytesPerSecond = bytesPerSecond
  }

  /// The fraction received, 0...1; `nil` if the size is unknown or less than the bytes received.
  public var fraction: Double? {
    guard let expected, received >= 0, expected >= received else { return nil }
    return expected == 0 ? 1 : Double(received) / Double(expected)
  }

  /// The percentage received, 0...100; 100 only if all bytes are.
  public var percentage: Int? {
    fraction.map { received == expected ? 100 : min(99, Int($0 * 100)) }
  }

  /// The remaining time at the current speed; `nil` if the size is unknown or nothing arrives.
  ///
  /// Clamped to 0 to 100 years.
  public var remaining: Duration? {
    guard let expected, fraction != nil else { return nil }
    guard received < expected else { return .zero }
    guard let bytesPerSecond, bytesPerSecond > 0 else { return nil }
    let century = 100 * 365.25 * 86_400
    return .seconds(min(century, Double(expected - received) / bytesPerSecond))
  }
}
