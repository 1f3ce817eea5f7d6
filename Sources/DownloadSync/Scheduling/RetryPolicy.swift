package import DownloadStore
internal import Foundation

/// Decides whether and when a failed download is retried.
///
/// The wait grows exponentially with the number of consecutive failures, with full jitter.
///
/// ```swift
/// var options = EngineOptions()
/// options.retry = RetryPolicy(maximumAttempts: 3, base: .seconds(2))
/// ```
public struct RetryPolicy: Sendable, Hashable {
  /// The number of consecutive failures without progress after which a download fails permanently.
  public var maximumAttempts: Int32
  /// The longest wait after the first failure; it doubles with each further failure.
  public var base: Duration
  /// The upper bound of the waits, unless a server asks for a longer one.
  public var cap: Duration
  /// The upper bound of the wait that a server asks for with `Retry-After`; a day by default.
  ///
  /// A download whose server asks for more is tried again after this time.
  public var longestServerWait: Duration
  /// The number of consecutive refusals of a URL after which a request is still repeated, because a
  /// request interceptor can supply another URL; 0 by default.
  ///
  /// A refusal is a failure with the code `refused`, `needsURL` or `notFound`.
  public var maximumRefusals: Int32 = 0
  /// The number of attempts for a download none of whose servers was ever reached; `nil`, the
  /// default, for ``maximumAttempts``.
  ///
  /// Such a download probably has a wrong URL. The waits between these attempts are at most two
  /// seconds. Set this for a command that a user waits for; a service should be patient, because
  /// networks return.
  public var firstContactAttempts: Int32?
  /// The longest wait that a server may ask for with `Retry-After` before a download fails
  /// permanently; `nil`, the default, for any.
  ///
  /// Set this for a command that a user waits for; a service waits, up to ``longestServerWait``.
  public var longestAwaitedServerWait: Duration?

  /// Creates a policy.
  public init(
    maximumAttempts: Int32 = 8,
    base: Duration = .seconds(1),
    cap: Duration = .seconds(300),
    longestServerWait: Duration = .seconds(86_400)
  ) {
    self.maximumAttempts = maximumAttempts
    self.base = base
    self.cap = cap
    self.longestServerWait = longestServerWait
  }

  /// Decides whether and when a download is retried after a failure.
  ///
  /// The wait is drawn uniformly from zero to its upper bound ("full jitter"), so that downloads
  /// that failed together are not retried together. It is at least the time that the server asked
  /// for, up to ``longestServerWait``.
  ///
  /// - Parameters:
  ///   - failedAttempts: The number of consecutive failures, including this one.
  ///   - code: The reason for this failure.
  ///   - retryAfter: The wait that the server asked for.
  ///   - random: A random number in 0..<1.
  /// - Returns: The wait before the next attempt; `nil` if the download has failed permanently.
  package func wait(
    afterFailures failedAttempts: Int32,
    _ code: DownloadFailure.Code,
    retryAfter: Duration? = nil,
    random: Double
  ) -> Duration? {
    guard code.isRetryable, allowsAttempt(afterFailures: failedAttempts) else { return nil }
    if let longestAwaitedServerWait, (retryAfter ?? .zero) > longestAwaitedServerWait { return nil }
    let drawn = longestWait(afterFailures: failedAttempts) * random
    return max(drawn, min(retryAfter ?? .zero, longestServerWait))
  }

  /// The policy for a download: with few attempts and short waits while no server was reached.
  ///
  /// A server was reached if bytes have arrived from it, or if one of the consecutive failures was that of a
  /// connection or an answer. A server that does not speak TLS was not reached with `https`, and one
  /// that closes the connection or answers with other bytes than HTTP, perhaps those of TLS, was not
  /// reached with `http`. Another source that has failed permanently does not count: it is not asked
  /// again.
  package func applied(to record: DownloadRecord) -> RetryPolicy {
    let attempts = record.countedAttempts
    let reached = attempts.filter { !$0.failure.isOfFirstContact }
    guard let firstContactAttempts, !record.hasServerBytes,
      reached.allSatisfy({ !$0.failure.code.isRetryable && $0.url != attempts.last?.url })
    else { return self }
    var policy = self
    let limit = firstContactAttempts + Int32(reached.count)
    policy.maximumAttempts = min(maximumAttempts, limit)
    policy.cap = min(cap, Self.longestFirstContactWait)
    return policy
  }

  private static let longestFirstContactWait = Duration.seconds(2)

  /// Whether another attempt is allowed after the given number of consecutive failures.
  func allowsAttempt(afterFailures failedAttempts: Int32) -> Bool {
    failedAttempts < maximumAttempts
  }

  /// Decides whether and when a request that was refused is repeated with another URL.
  ///
  /// - Parameters:
  ///   - refusals: The number of refusals since the last progress, including this one.
  ///   - random: A random number in 0..<1.
  /// - Returns: The wait before the next attempt: none after the first refusal. `nil` if the download
  ///   has failed permanently.
  func wait(afterRefusals refusals: Int32, random: Double) -> Duration? {
    guard refusals <= maximumRefusals else { return nil }
    return refusals <= 1 ? .zero : longestWait(afterFailures: refusals - 1) * random
  }

  /// The longest wait after the given number of consecutive failures, unless a server asks for
  /// more.
  func longestWait(afterFailures failures: Int32) -> Duration {
    min(cap, base * (1 << (Int(max(1, min(failures, 31))) - 1)))
  }

  /// The longest time from now to the next attempt of a record: ``cap``, or the wait that the last
  /// failure has set, if a server asked for a longer one.
  ///
  /// A date further away was stored before the system clock was set back.
  func longestWait(of record: DownloadRecord) -> Duration {
    guard let date = record.nextRetryAt, let failure = record.attempts.last else { return cap }
    let wait = Duration.seconds(date.timeIntervalSince(failure.at))
    return max(cap, min(wait, longestServerWait))
  }
}

extension DownloadRecord {
  /// Whether a server has sent bytes of the file.
  ///
  /// With its bytes, the record stores the size, a validator, or the server that states neither. Bytes of
  /// curl or wget that were taken over have none of them.
  var hasServerBytes: Bool {
    received > 0
      && (expected != nil || entityTag != nil || lastModified != nil || validatorOrigin != nil
        || resumeData != nil)
  }
}

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

extension DownloadFailure {
  /// Whether no request has reached a server.
  fileprivate var isOfFirstContact: Bool {
    switch detail {
    case .noTLS, .mayExpectTLS: true
    // The server behind a proxy may be slow.
    case .proxy where code != .timedOut: true
    default: code.traits.contains(.unreachable)
    }
  }
}
