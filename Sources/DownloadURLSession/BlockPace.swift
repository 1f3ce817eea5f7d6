internal import DownloadStore

/// The rate at which a delegate queue runs blocks.
struct BlockPace {
  /// The number of blocks per millisecond above which a queue is busy: 64 MB/s in chunks of 16 KiB.
  ///
  /// A rate limit that is worth setting stays far below it, so limited tasks are not delayed.
  private static let busyRate = 4.0

  private var counted = 0
  private var since: ContinuousClock.Instant?
  private var isBusy = false

  /// Counts blocks and returns whether the queue is busy.
  ///
  /// The rate is that of the last period of at least a millisecond.
  mutating func isBusy(after blockCount: Int, at now: ContinuousClock.Instant) -> Bool {
    counted += blockCount
    guard let since else {
      self.since = now
      return false
    }
    let milliseconds = (now - since) / .milliseconds(1)
    guard milliseconds >= 1 else { return isBusy }
    isBusy = Double(counted) / milliseconds >= Self.busyRate
    counted = 0
    self.since = now
    return isBusy
  }
}
