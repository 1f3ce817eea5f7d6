internal import SystemInterface

/// A rate limit for the bodies of all tasks of a transport together.
///
/// A transport charges the bytes that have arrived, and waits for ``delay`` before it continues.
package final class RateLimiter: Sendable {
  /// The number of bytes to charge at most at a time under a limit.
  ///
  /// A longer piece would arrive at once after a long wait: 256 KiB take 26 seconds at 10 kB/s.
  package static let partLength = 16 << 10

  private struct State {
    var own: Int64?
    var shared: Int64?
    /// The bucket of the lower limit; `nil` if there is none.
    var bucket: TokenBucket?

    /// The limit that applies.
    var rate: Int64? { [own, shared].compactMap { $0 }.min() }

    /// Begins with a new bucket if another limit applies.
    mutating func update() {
      let rate = rate
      guard bucket?.bytesPerSecond != rate else { return }
      bucket = rate.map { TokenBucket(bytesPerSecond: $0, at: .now) }
    }
  }

  private let state: Mutex<State>

  /// Creates a limiter.
  ///
  /// - Parameter bytesPerSecond: The limit in bytes per second, above zero; `nil` for none.
  package init(bytesPerSecond: Int64?) {
    var first = State(own: bytesPerSecond)
    first.update()
    state = Mutex(first)
  }

  /// The limit of the transport in bytes per second, above zero; `nil` for none.
  ///
  /// A new limit takes effect immediately and cancels the debt.
  package var bytesPerSecond: Int64? {
    get { state.withLock { $0.own } }
    set {
      state.withLock { state in
        state.own = newValue
        state.update()
      }
    }
  }

  /// The limit that all transports of a store share, in bytes per second, above zero; `nil` for none.
  ///
  /// The lower one of both limits applies. A new limit takes effect as that of the transport does.
  package var sharedBytesPerSecond: Int64? {
    get { state.withLock { $0.shared } }
    set {
      state.withLock { state in
        state.shared = newValue
        state.update()
      }
    }
  }

  /// Whether any limit applies.
  package var isLimited: Bool { state.withLock { $0.bucket != nil } }

  /// Charges bytes that have arrived.
  package func charge(_ byteCount: Int) {
    state.withLock { $0.bucket?.charge(byteCount, at: .now) }
  }

  /// The time until the charged bytes are within the limit.
  ///
  /// Read it again after a short sleep: the limit may have changed.
  package var delay: Duration {
    state.withLock { $0.bucket?.delay(at: .now) } ?? .zero
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
