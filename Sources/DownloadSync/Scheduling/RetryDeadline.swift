internal import Foundation

/// The earliest time of a retry, on the system clock and on the monotonic clock.
///
/// The record stores the date, so that another process can read it after a restart. A running
/// engine keeps the instant of the monotonic clock, so that setting the system clock does not
/// change the wait.
struct RetryDeadline: Sendable, Hashable {
  /// The record's `nextRetryAt`, which distinguishes successive waits.
  var date: Date
  /// The instant at which the retry is due.
  var instant: ContinuousClock.Instant
}

extension RetryDeadline {
  /// Converts a stored date, given the current time on both clocks.
  ///
  /// A date further away than the longest wait was stored before the system clock was set back; the
  /// deadline is then the longest wait from now.
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
