internal import DownloadStore

/// The rate at which a delegate queue runs blocks that pass on chunks of bodies.
struct BlockPace {
  /// The number of blocks per millisecond above which a queue is busy: 64 MB/s in chunks of 16 KiB.
  ///
  /// A rate limit that is worth setting stays far below it, so limited tasks are not delayed.
  private static let busyRate = 4.0

  private var counted = 0
  private var since: ContinuousClock.Instant?
  private var isFast = false

  /// Counts the blocks of a batch, and returns whether the queue is busy.
  ///
  /// The rate is that of the last period of at least a millisecond. After the head or the end of a
  /// task the queue is not busy at any rate: each of many small files would wait for a batch.
  ///
  /// - Parameters:
  ///   - blockCount: The number of blocks.
  ///   - chunkCount: The number of those that passed on a chunk.
  ///   - now: The current time.
  /// - Returns: Whether the queue is busy.
  mutating func isBusy(
    after blockCount: Int,
    chunkCount: Int,
    at now: ContinuousClock.Instant
  ) -> Bool {
    isFast(after: chunkCount, at: now) && chunkCount == blockCount
  }

  private mutating func isFast(after chunkCount: Int, at now: ContinuousClock.Instant) -> Bool {
    counted += chunkCount
    guard let since else {
      self.since = now
      return false
    }
    let milliseconds = (now - since) / .milliseconds(1)
    guard milliseconds >= 1 else { return isFast }
    isFast = Double(counted) / milliseconds >= Self.busyRate
    counted = 0
    self.since = now
    return isFast
  }
}
