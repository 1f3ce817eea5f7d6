internal import Foundation
internal import Synchronization

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

/// Holds the delegate queue back so that all tasks together keep to a rate.
final class RateLimiter: Sendable {
  /// Short enough that a new limit and a cancelled task are seen soon.
  private static let longestSleep = Duration.milliseconds(50)

  private let bucket: Mutex<TokenBucket?>

  init(bytesPerSecond: Int64?) {
    bucket = Mutex(Self.bucket(bytesPerSecond))
  }

  /// The limit in bytes per second.
  var bytesPerSecond: Int64? {
    get { bucket.withLock { $0?.bytesPerSecond } }
    set { bucket.withLock { $0 = Self.bucket(newValue) } }
  }

  /// Charges bytes and sleeps until they are paid for, or until `goesOn` is false.
  func wait(for byteCount: Int, while goesOn: () -> Bool) {
    bucket.withLock { $0?.charge(byteCount, at: .now) }
    while let delay = bucket.withLock({ $0?.delay(at: .now) }), delay > .zero, goesOn() {
      Thread.sleep(forTimeInterval: min(delay, Self.longestSleep) / .seconds(1))
    }
  }

  private static func bucket(_ bytesPerSecond: Int64?) -> TokenBucket? {
    bytesPerSecond.map { TokenBucket(bytesPerSecond: $0, at: .now) }
  }
}
