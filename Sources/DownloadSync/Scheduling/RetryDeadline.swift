internal import Foundation

/// The time from which a failed download may be tried again.
///
/// A record stores a date, which another process can read after a restart. A running engine keeps the
/// instant on the monotonic clock, so that setting the system clock changes no wait.
struct RetryDeadline: Sendable, Hashable {
  /// The record's `nextRetryAt`, which tells one wait from the next.
  var date: Date
  /// The instant from which the retry is due.
  var instant: ContinuousClock.Instant
}

extension RetryDeadline {
  /// Converts a stored date, given both clocks.
  ///
  /// A date that is further away than the longest wait was stored before the system clock was set
  /// back: the wait is cut to the longest one.
  init(
    _ date: Date,
    now: Date,
    instant: ContinuousClock.Instant,
    longestWait: Duration
  ) {
    let seconds = min(max(0, date.timeIntervalSince(now)), longestWait / .seconds(1))
    self.init(date: date, instant: instant.advanced(by: .seconds(seconds)))
  }
}
