/// Delays and limits starts while this machine is short of file descriptors or memory.
///
/// After a shortage all starts are delayed, because each would fail for the same reason. The delay
/// doubles with each further shortage, until a transfer makes progress. The number of running
/// downloads is limited to those that still ran at the shortage. The limit grows by one with each
/// ``noteProgress(limit:)``.
struct ResourceShortage: Sendable {
  /// The delay after the first shortage.
  static let shortestDelay = Duration.seconds(1)
  /// The longest delay.
  static let longestDelay = Duration.seconds(30)

  /// The number of downloads that may run; `nil` for the limit of the options.
  private var maximumRunning: Int?
  /// The number of shortages since a transfer made progress.
  private var count = 0
  private var delayEnd: ContinuousClock.Instant?

  /// Whether starts are delayed now.
  func delaysStarts(at now: ContinuousClock.Instant) -> Bool {
    delayEnd.map { now < $0 } ?? false
  }

  /// Returns the limits of the options, reduced after a shortage.
  func limiting(_ limits: ConcurrencyLimits) -> ConcurrencyLimits {
    var limits = limits
    limits.maximumRunning = min(limits.maximumRunning, maximumRunning ?? .max)
    return limits
  }

  /// Notes that a call failed because of missing resources.
  ///
  /// Failures during a delay belong to the same shortage: they may lower the limit, but do not
  /// extend the delay.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - running: The number of downloads that still run.
  /// - Returns: The time until downloads start again.
  mutating func note(at now: ContinuousClock.Instant, running: Int) -> Duration {
    if let delayEnd, now < delayEnd {
      maximumRunning = min(maximumRunning ?? .max, max(1, running))
      return now.duration(to: delayEnd)
    }
    maximumRunning = max(1, running)
    let delay = min(Self.longestDelay, Self.shortestDelay * (1 << min(count, 10)))
    count += 1
    delayEnd = now.advanced(by: delay)
    return delay
  }

  /// Notes that a transfer makes progress.
  ///
  /// Does not shorten a delay that has begun.
  ///
  /// - Parameter limit: The maximum number of running downloads in the options.
  mutating func noteProgress(limit: Int) {
    count = 0
    maximumRunning = maximumRunning.flatMap { $0 + 1 < limit ? $0 + 1 : nil }
  }
}
