internal import SystemInterface

/// The downloads that clients have lately added again.
///
/// A front end retries by `addUri` and `removeDownloadResult` of the same GID, one after the other. A
/// download that fails again in between would look like a stopped one, and be removed.
final class RecentRetries: Sendable {
  /// The time between both calls, with a margin.
  private let duration: Duration
  /// The largest number of downloads that are kept.
  private static let limit = 10_000

  // A lock, because requests are answered on any thread.
  private let times = Mutex<[String: ContinuousClock.Instant]>([:])

  init(duration: Duration = .seconds(10)) {
    self.duration = duration
  }

  /// Notes that a download was added again.
  func note(_ id: String, at now: ContinuousClock.Instant = .now) {
    times.withLock { times in
      if times.count >= Self.limit {
        times = times.filter { $0.value.duration(to: now) < duration }
      }
      if times.count < Self.limit { times[id] = now }
    }
  }

  /// Whether a download was added again a moment ago.
  func contains(_ id: String, at now: ContinuousClock.Instant = .now) -> Bool {
    times.withLock { times in times[id].map { $0.duration(to: now) < duration } ?? false }
  }
}
