internal import SystemInterface

/// A rate limit for the bodies of all tasks of a transport together.
///
/// A transport charges the bytes that have arrived, and waits for ``delay`` before it continues.
package final class RateLimiter: Sendable {
  /// The number of bytes to charge at most at a time under a limit.
  ///
  /// A longer piece would arrive at once after a long wait: 256 KiB take 26 seconds at 10 kB/s.
  package static let partLength = 16 << 10

  private let bucket: Mutex<TokenBucket?>

  /// Creates a limiter.
  ///
  /// - Parameter bytesPerSecond: The limit in bytes per second, above zero; `nil` for none.
  package init(bytesPerSecond: Int64?) {
    bucket = Mutex(Self.bucket(bytesPerSecond))
  }

  /// The limit in bytes per second, above zero; `nil` for none.
  ///
  /// A new limit takes effect immediately and cancels the debt.
  package var bytesPerSecond: Int64? {
    get { bucket.withLock { $0?.bytesPerSecond } }
    set { bucket.withLock { $0 = Self.bucket(newValue) } }
  }

  /// Charges bytes that have arrived.
  package func charge(_ byteCount: Int) {
    bucket.withLock { $0?.charge(byteCount, at: .now) }
  }

  /// The time until the charged bytes are within the limit.
  ///
  /// Read it again after a short sleep: the limit may have changed.
  package var delay: Duration {
    bucket.withLock { $0?.delay(at: .now) } ?? .zero
  }

  private static func bucket(_ bytesPerSecond: Int64?) -> TokenBucket? {
    bytesPerSecond.map { TokenBucket(bytesPerSecond: $0, at: .now) }
  }
}

/// A token bucket that may be overdrawn: bytes are charged after they have arrived, and the debt
/// delays the next read.
struct TokenBucket {
  /// The rate in bytes per second.
  let bytesPerSecond: Int64
  private var balance: Double
  private var updated: ContinuousClock.Instant

  /// Creates an empty bucket.
  init(bytesPerSecond: Int64, at now: ContinuousClock.Instant) {
    precondition(bytesPerSecond > 0, "a rate limit must be above zero")
    self.bytesPerSecond = bytesPerSecond
    balance = 0
    updated = now
  }

  /// Removes tokens for bytes that have arrived, even if too few are available.
  mutating func charge(_ byteCount: Int, at now: ContinuousClock.Instant) {
    refill(at: now)
    balance -= Double(byteCount)
  }

  /// Returns the time from `now` until the debt is paid.
  mutating func delay(at now: ContinuousClock.Instant) -> Duration {
    refill(at: now)
    return balance < 0 ? .seconds(-balance / Double(bytesPerSecond)) : .zero
  }

  /// Unused tokens accumulate for a tenth of a second at most, so that no burst follows a pause.
  private mutating func refill(at now: ContinuousClock.Instant) {
    guard now > updated else { return }
    let rate = Double(bytesPerSecond)
    balance = min(rate / 10, balance + rate * ((now - updated) / .seconds(1)))
    updated = now
  }
}
