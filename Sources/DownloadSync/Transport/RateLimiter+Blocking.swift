internal import Foundation

extension RateLimiter {
  /// The longest sleep: short enough to notice a new limit or a cancellation soon.
  private static let longestSleep = Duration.milliseconds(50)

  /// Charges bytes to the rate limit and blocks the calling thread until it allows them, or until
  /// `isActive` is false.
  package func block(for byteCount: Int, while isActive: () -> Bool) {
    charge(byteCount)
    var delay = delay
    while delay > .zero, isActive() {
      Thread.sleep(forTimeInterval: min(delay, Self.longestSleep) / .seconds(1))
      delay = self.delay
    }
  }
}
