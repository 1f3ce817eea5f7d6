internal import DownloadSync
internal import Foundation

extension RateLimiter {
  /// Short enough that a new limit and a cancelled task are seen soon.
  private static let longestSleep = Duration.milliseconds(50)

  /// Charges bytes and holds the delegate queue back until they are paid for, or until `goesOn` is
  /// false.
  func sleep(for byteCount: Int, while goesOn: () -> Bool) {
    charge(byteCount)
    var delay = delay
    while delay > .zero, goesOn() {
      Thread.sleep(forTimeInterval: min(delay, Self.longestSleep) / .seconds(1))
      delay = self.delay
    }
  }
}
