/// Delays and limits starts while this machine is short of descriptors or memory.
///
/// A start that fails for such a reason is not tried again at once, nor is any other: all of them
/// would fail for the same reason. The delay doubles with each further shortage until a transfer makes
/// progress. After a shortage no more downloads run than did then, and one more with each that makes
/// progress.
struct ResourceShortage: Sendable {
  /// The delay after the first shortage.
  static let shortestDelay = Duration.seconds(1)
  /// The delay after many.
  static let longestDelay = Duration.seconds(30)

  /// How many downloads may run; `nil` for as many as the options say.
  private var maximumRunning: Int?
  /// The shortages since a transfer made progress.
  private var count = 0
  private var delayEnd: ContinuousClock.Instant?

  /// Whether nothing starts at the moment.
  func delaysStarts(at now: ContinuousClock.Instant) -> Bool {
    delayEnd.map { now < $0 } ?? false
  }

  /// The limits on what runs, given those of the options.
  func limiting(_ limits: ConcurrencyLimits) -> ConcurrencyLimits {
    var limits = limits
    limits.maximumRunning = min(limits.maximumRunning, maximumRunning ?? .max)
    return limits
  }

  /// Notes that a call failed for want of resources.
  ///
  /// Several that fail together are one shortage.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - running: How many downloads still run.
  /// - Returns: How long starts are delayed from now on.
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
  /// A delay that has begun still ends in its time.
  ///
  /// - Parameter limit: How many downloads may run by the options.
  mutating func noteProgress(limit: Int) {
    count = 0
    maximumRunning = maximumRunning.flatMap { $0 + 1 < limit ? $0 + 1 : nil }
  }
}
