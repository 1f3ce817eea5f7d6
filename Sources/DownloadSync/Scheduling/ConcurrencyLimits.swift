/// The limits on the number of downloads that run at the same time.
///
/// ```swift
/// var options = EngineOptions()
/// options.limits = ConcurrencyLimits(maximumRunning: 8, maximumPerHost: 2)
/// ```
public struct ConcurrencyLimits: Sendable, Hashable {
  /// The largest number of downloads that run at the same time.
  public var maximumRunning: Int
  /// The largest number of downloads that run at the same time from one scheme, host and port.
  public var maximumPerHost: Int

  /// Creates limits.
  ///
  /// - Precondition: Both limits are at least 1.
  public init(maximumRunning: Int = 4, maximumPerHost: Int = 4) {
    precondition(maximumRunning >= 1 && maximumPerHost >= 1, "a concurrency limit is at least 1")
    self.maximumRunning = maximumRunning
    self.maximumPerHost = maximumPerHost
  }
}
