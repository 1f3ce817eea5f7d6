internal import DownloadStore

/// Which of a download's URLs is asked next: its own, then each mirror, round and round, past those
/// whose last answer was final.
///
/// Only failures since there was progress count. One URL is asked at a time.
struct SourceRotation: Sendable {
  private let sources: [String]
  /// The last failure of each source that has failed, by its index.
  private let failures: [Int: DownloadFailure.Code]
  /// The source that was asked last; `nil` before the first failure.
  private let last: Int?

  init(of record: DownloadRecord) {
    let sources = [record.url] + record.mirrors
    var failures: [Int: DownloadFailure.Code] = [:]
    var last: Int?
    for attempt in record.attempts.suffix(Int(max(0, record.failedAttempts))) {
      // A URL that was replaced is none of them.
      guard let index = sources.firstIndex(where: { $0.utf8.elementsEqual(attempt.url.utf8) })
      else { continue }
      failures[index] = attempt.failure.code
      last = index
    }
    self.sources = sources
    self.failures = failures
    self.last = last
  }

  /// The index of the source to ask next; the own URL where all have failed for good.
  private var nextIndex: Int {
    guard let last else { return 0 }
    let round = (1...sources.count).map { (last + $0) % sources.count }
    return round.first { failures[$0]?.isRetryable ?? true } ?? 0
  }

  /// The URL to ask next.
  var next: String { sources[nextIndex] }

  /// Says when the next attempt is made.
  ///
  /// A source that was not asked yet is asked without a wait, unless it is on the server that just
  /// asked for patience.
  ///
  /// - Parameters:
  ///   - failure: Why the last attempt failed, which the record has noted already.
  ///   - record: The record.
  ///   - policy: How often and after which waits one source is asked.
  ///   - retryAfter: What the server asked for.
  ///   - random: A number from zero up to but not including one.
  /// - Returns: The wait before it; `nil` when there is none.
  static func wait(
    after failure: DownloadFailure,
    of record: DownloadRecord,
    _ policy: RetryPolicy,
    retryAfter: Duration?,
    random: Double
  ) -> Duration? {
    let rotation = Self(of: record)
    let index = rotation.nextIndex
    func wait(_ code: DownloadFailure.Code, _ retryAfter: Duration?) -> Duration? {
      policy.wait(
        afterFailures: record.failedAttempts,
        code,
        retryAfter: retryAfter,
        random: random
      )
    }
    // What fails here fails whoever is asked.
    guard !failure.code.isLocal, index != rotation.last else {
      return wait(failure.code, retryAfter)
    }
    if let code = rotation.failures[index] { return wait(code, nil) }
    let asksForPatience =
      retryAfter != nil
      && rotation.last.map { RecordIdentity.origin(of: rotation.sources[$0]) }
        == RecordIdentity.origin(of: rotation.sources[index])
    return asksForPatience ? wait(failure.code, retryAfter) : .zero
  }
}

extension DownloadFailure.Code {
  /// Whether the cause is on this machine, so that another server is no help.
  var isLocal: Bool {
    switch self {
    case .fileSystem, .fileInUse, .fileUnavailable, .diskFull, .outOfResources, .quarantined: true
    default: false
    }
  }
}
