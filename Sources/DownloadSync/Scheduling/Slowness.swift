/// The speed below which a transfer gives its slot up when another download waits.
struct LowestSpeed: Sendable, Hashable {
  /// In bytes per second; zero if no transfer is too slow.
  var bytesPerSecond: Int64
  /// The time over which the speed is measured.
  var time: Duration

  /// Returns the speed for a transfer with rate limits, in bytes per second: at most half of each.
  func belowLimits(_ limits: [Int64]) -> Self {
    var result = self
    for limit in limits { result.bytesPerSecond = min(result.bytesPerSecond, limit / 2) }
    return result
  }
}

/// Measures whether a transfer is slower than a limit.
///
/// The speed is measured over whole periods, so that a burst now and then does not hide a slow server,
/// and a short interruption does not make a server slow. Pure: the clock is passed in.
struct Slowness: Sendable, Hashable {
  /// The number of bytes at the beginning of the period; `nil` if the transfer has no task.
  private var received: Int64?
  private var start: ContinuousClock.Instant
  /// Whether the transfer was slow in the last complete period.
  private(set) var isSlow = false

  /// Begins the first period.
  init(at now: ContinuousClock.Instant) {
    start = now
  }

  /// Notes the number of received bytes.
  ///
  /// - Parameters:
  ///   - count: The number of received bytes; `nil` if the transfer has no task.
  ///   - limit: The lowest speed.
  ///   - now: The current time.
  mutating func note(_ count: Int64?, _ limit: LowestSpeed, at now: ContinuousClock.Instant) {
    guard let count, let received, count >= received else {
      // The first task, or another entity from its first byte.
      (self.received, start, isSlow) = (count, now, false)
      return
    }
    let time = start.duration(to: now)
    guard time >= limit.time, time > .zero else { return }
    let speed = Double(count - received) / (time / .seconds(1))
    isSlow = speed < Double(limit.bytesPerSecond)
    (self.received, start) = (count, now)
  }
}

/// How long a crash suspect is on probation.
enum CrashProbation {
  /// The largest number of doublings.
  private static let limit: Int32 = 10

  /// Returns the probation after a number of crashes: the given time, doubled with each crash after
  /// the second.
  ///
  /// A server that crashes the process late is found when the probation is longer than that takes.
  static func time(_ probation: Duration, afterCrashes count: Int32) -> Duration {
    probation * (1 << (min(max(count, 2), limit + 2) - 2))
  }
}
