/// Limits the share of time that a watch spends on reading a store.
///
/// A watch must not slow the engine: after a read it waits 99 times as long as the read has taken,
/// up to ten seconds. Ten watches then use at most a tenth of one processor for reads of up to a
/// tenth of a second.
struct WatchPace {
  /// The time between two looks at the store's commit number, and so the shortest time between two
  /// reads.
  static let interval = Duration.milliseconds(500)
  /// The longest pause after a read.
  static let longestPause = Duration.seconds(10)
  /// The length of the pause, in lengths of the read.
  private static let pauseFactor = 99

  private let now: @Sendable () -> ContinuousClock.Instant
  private var earliest: ContinuousClock.Instant

  /// Creates a pace that allows a read immediately.
  ///
  /// - Parameter now: Returns the current time.
  init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.now = now
    earliest = now()
  }

  /// Whether the pause after the last read is over.
  func allowsRead() -> Bool { now() >= earliest }

  /// Reads, and begins the pause; a read that throws begins none.
  mutating func measure(_ read: () throws -> Void) rethrows {
    let start = now()
    try read()
    let end = now()
    earliest = end + min((end - start) * Self.pauseFactor, Self.longestPause)
  }
}
