/// A token bucket that may be overdrawn: what arrived is charged, and the debt is waited off.
struct TokenBucket {
  /// The rate in bytes per second.
  let bytesPerSecond: Int64
  private var balance: Double
  private var updated: ContinuousClock.Instant

  /// An empty bucket.
  init(bytesPerSecond: Int64, at now: ContinuousClock.Instant) {
    precondition(bytesPerSecond > 0, "a rate limit is above zero")
    self.bytesPerSecond = bytesPerSecond
    balance = 0
    updated = now
  }

  /// Takes bytes out, whether they are there or not.
  mutating func charge(_ byteCount: Int, at now: ContinuousClock.Instant) {
    refill(at: now)
    balance -= Double(byteCount)
  }

  /// How long it takes from `now` until nothing is owed.
  mutating func delay(at now: ContinuousClock.Instant) -> Duration {
    refill(at: now)
    return balance < 0 ? .seconds(-balance / Double(bytesPerSecond)) : .zero
  }

  /// What is not used within a tenth of a second is lost: a pause must not be followed by a burst.
  private mutating func refill(at now: ContinuousClock.Instant) {
    guard now > updated else { return }
    let rate = Double(bytesPerSecond)
    balance = min(rate / 10, balance + rate * ((now - updated) / .seconds(1)))
    updated = now
  }
}
