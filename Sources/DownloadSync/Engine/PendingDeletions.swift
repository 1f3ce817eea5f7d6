/// The files that could not be deleted, or whose folder could not be synced, and when to retry.
///
/// Such a file may come back after a power failure, or with its volume. Its record is kept until a sync
/// of the folder succeeds, so that the file still has an owner.
struct PendingDeletions: Sendable {
  private struct Entry: Sendable {
    /// The number of consecutive failures.
    var failures: Int32
    /// When to retry.
    var due: ContinuousClock.Instant
  }

  /// The entries by the URLs of the records.
  private var entries = URLTable<Entry>()

  /// The URLs of all records that are kept for now.
  var urls: [String] { entries.urls }

  /// Returns whether a run that ends when idle has to wait for another retry.
  ///
  /// - Parameter attempts: The number of consecutive failures after which the run no longer waits.
  /// - Returns: Whether some file's folder has failed fewer times.
  func delayEnd(atMost attempts: Int32) -> Bool {
    entries.values.contains { $0.failures < attempts }
  }

  /// Notes that the folder of a record's file could not be synced.
  ///
  /// The wait before the next retry doubles with each failure, up to the policy's cap. The number
  /// of retries is unlimited, because otherwise only the next engine could finish the deletion.
  mutating func noteFailure(
    of url: String,
    at now: ContinuousClock.Instant,
    _ policy: RetryPolicy
  ) {
    let failures = min(entries[url]?.failures ?? 0, .max - 1) + 1
    let wait = policy.longestWait(afterFailures: failures)
    entries[url] = Entry(failures: failures, due: now.advanced(by: wait))
  }

  /// Notes that the folder of a record's files is missing.
  ///
  /// It is looked for again at the longest interval of the policy. A run does not wait for it: a volume
  /// may stay away for days.
  mutating func noteUnreachable(
    _ url: String,
    at now: ContinuousClock.Instant,
    _ policy: RetryPolicy
  ) {
    let wait = policy.longestWait(afterFailures: .max)
    entries[url] = Entry(failures: .max, due: now.advanced(by: wait))
  }

  /// Removes an entry, because the deletion is synced or no longer wanted.
  mutating func remove(_ url: String) {
    entries[url] = nil
  }

  /// Returns the URLs of the records whose sync is to be retried now.
  ///
  /// They stay due until ``noteFailure(of:at:_:)`` or ``remove(_:)``.
  func due(at now: ContinuousClock.Instant) -> [String] {
    entries.urls.filter { url in entries[url].map { $0.due <= now } ?? false }
  }
}
