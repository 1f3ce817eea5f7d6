/// How far a download is, or a group of them, and when it will be done.
public struct ProgressEstimate: Sendable, Hashable {
  /// The bytes that are there.
  public var received: Int64
  /// The size of the whole in bytes, if it is known.
  public var expected: Int64?
  /// How fast bytes arrive; `nil` until there is something to measure.
  public var bytesPerSecond: Double?

  /// Describes progress.
  public init(received: Int64, expected: Int64? = nil, bytesPerSecond: Double? = nil) {
    self.received = received
    self.expected = expected
    self.bytesPerSecond = bytesPerSecond
  }

  /// The part that is there, from 0 to 1; `nil` when the size is not known, or is less than what is
  /// there and so cannot be right.
  public var fraction: Double? {
    guard let expected, received >= 0, expected >= received else { return nil }
    return expected == 0 ? 1 : Double(received) / Double(expected)
  }

  /// The percentage that is there, from 0 to 100; 100 only when all is.
  public var percentage: Int? {
    fraction.map { received == expected ? 100 : min(99, Int($0 * 100)) }
  }

  /// How long the rest takes at this speed; `nil` when the size is not known, or nothing arrives.
  ///
  /// At most a century, and never less than nothing.
  public var remaining: Duration? {
    guard let expected, fraction != nil else { return nil }
    guard received < expected else { return .zero }
    guard let bytesPerSecond, bytesPerSecond > 0 else { return nil }
    let century = 100 * 365.25 * 86_400
    return .seconds(min(century, Double(expected - received) / bytesPerSecond))
  }
}
