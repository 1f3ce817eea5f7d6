public import DownloadStore

/// Whether and when a failed download is tried again.
public struct RetryPolicy: Sendable, Hashable {
  /// After so many failures in a row without progress the download has failed for good.
  public var maximumAttempts: Int32
  /// The longest wait after the first failure; it doubles with each further one.
  public var base: Duration
  /// The longest wait at all, also where a server asks for more.
  public var cap: Duration

  /// Describes a policy.
  public init(
    maximumAttempts: Int32 = 8,
    base: Duration = .seconds(1),
    cap: Duration = .seconds(300)
  ) {
    self.maximumAttempts = maximumAttempts
    self.base = base
    self.cap = cap
  }

  /// The wait before the next attempt; `nil` when there is none.
  ///
  /// The wait is drawn evenly from zero to the bound ("full jitter"), so that many downloads that
  /// failed together do not come back together. What the server asks for is the least.
  ///
  /// - Parameters:
  ///   - failedAttempts: How many have failed in a row, this one included.
  ///   - code: Why this one failed.
  ///   - retryAfter: What the server asked for.
  ///   - random: A number from zero up to but not including one.
  /// - Returns: How long to wait, or `nil` when the download has failed for good.
  public func wait(
    afterFailures failedAttempts: Int32,
    _ code: DownloadFailure.Code,
    retryAfter: Duration? = nil,
    random: Double
  ) -> Duration? {
    guard code.isRetryable, allowsAttempt(afterFailures: failedAttempts) else { return nil }
    let drawn = longestWait(afterFailures: failedAttempts) * random
    return max(drawn, min(retryAfter ?? .zero, cap))
  }

  /// Whether another attempt is allowed after that many failures in a row.
  func allowsAttempt(afterFailures failedAttempts: Int32) -> Bool {
    failedAttempts < maximumAttempts
  }

  /// The longest wait after that many failures in a row, unless a server asks for more.
  func longestWait(afterFailures failures: Int32) -> Duration {
    min(cap, base * (1 << (Int(max(1, min(failures, 31))) - 1)))
  }
}

extension DownloadFailure.Code {
  /// Whether the same request may succeed later.
  public var isRetryable: Bool {
    switch self {
    case .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .serverBusy, .wrongLength,
      .entityChanged, .badResponse, .fileInUse, .outOfResources, .fileUnavailable, .unknown:
      true
    case .insecure, .badRedirect, .unsupportedURL, .refused, .needsURL, .notFound, .rejected,
      .unexpectedCoding, .digestMismatch, .diskFull, .fileSystem, .quarantined, .interceptorFailed:
      false
    }
  }
}
