/// Deleted files whose folder could not be synced, and when to try each of them again.
///
/// A power cut may bring such a file back. Its record stays until a sync of the folder succeeds, so
/// that the file still has an owner.
struct PendingDeletions: Sendable {
  private struct Entry: Sendable {
    /// The syncs that have failed in a row.
    var failures: Int32
    /// When to try again.
    var due: ContinuousClock.Instant
  }

  /// By the URLs of the records.
  private var entries = URLTable<Entry>()

  /// The URLs of all records that stay for now.
  var urls: [String] { entries.urls }

  /// Returns whether a run that ends when nothing is left to do has to wait for another try.
  ///
  /// - Parameter attempts: The failures in a row after which it does not wait any longer.
  /// - Returns: Whether the folder of some file was tried fewer times.
  func delayEnd(atMost attempts: Int32) -> Bool {
    entries.values.contains { $0.failures < attempts }
  }

  /// Notes that the folder of a record's file could not be synced.
  ///
  /// The wait before the next try doubles with each failure, up to the policy's cap. There is no last
  /// try: only the next engine could go on with the deletion.
  mutating func noteFailure(
    of url: String,
    at now: ContinuousClock.Instant,
    _ policy: RetryPolicy
  ) {
    let failures = min(entries[url]?.failures ?? 0, .max - 1) + 1
    let wait = policy.longestWait(afterFailures: failures)
    entries[url] = Entry(failures: failures, due: now.advanced(by: wait))
  }

  /// Notes that the deletion lasts, or is not wanted any more.
  mutating func remove(_ url: String) {
    entries[url] = nil
  }

  /// The URLs of the records to try again now.
  ///
  /// They stay due until ``noteFailure(of:at:_:)`` or ``remove(_:)``.
  func due(at now: ContinuousClock.Instant) -> [String] {
    entries.urls.filter { url in entries[url].map { $0.due <= now } ?? false }
  }
}
