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
