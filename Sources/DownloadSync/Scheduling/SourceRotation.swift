internal import DownloadStore

/// Chooses the URL of a download's next attempt: its own URL, then each mirror, in turn.
///
/// A URL whose last failure was permanent is skipped. Only failures since the last progress count.
/// One URL is used at a time. Without a required digest, an unencrypted mirror of an encrypted file is
/// used only if no encrypted URL is left, and a refresh asks no mirror: it may have an older version.
struct SourceRotation: Sendable {
  private let sources: [String]
  /// The sources that are used only if all others have failed permanently, by index.
  private let lastResorts: Set<Int>
  /// The last failure of each source that has failed, by index.
  private let failures: [Int: DownloadFailure.Code]
  /// The index of the source that failed last; `nil` before the first failure.
  private let last: Int?

  init(of record: DownloadRecord) {
    var sources = [record.url]
    if !record.isEarlierVersionInPlace || record.expectedDigest != nil {
      // A source that is listed twice would never have had its turn.
      for mirror in record.mirrors.prefix(RecordLimits.mirrors)
      where !sources.contains(where: { $0.utf8.elementsEqual(mirror.utf8) }) {
        sources.append(mirror)
      }
    }
    var failures: [Int: DownloadFailure.Code] = [:]
    var last: Int?
    // A full disk is listed among the attempts, but is no failure of the source, and is not counted.
    let counted = record.attempts.filter { !$0.failure.code.traits.contains(.shortage) }
    for attempt in counted.suffix(Int(max(0, record.failedAttempts))) {
      // The URL of an attempt may have been replaced since, and is then not a source.
      guard let index = sources.firstIndex(where: { $0.utf8.elementsEqual(attempt.url.utf8) })
      else { continue }
      failures[index] = attempt.failure.code
      last = index
    }
    self.sources = sources
    // Each start and each waiting record reads the source, and nearly all have one URL.
    lastResorts =
      record.expectedDigest != nil || sources.count == 1 ? [] : Self.unencrypted(of: sources)
    self.failures = failures
    self.last = last
  }

  /// The indices of the unencrypted sources; none if all are.
  private static func unencrypted(of sources: [String]) -> Set<Int> {
    let indices = sources.indices.filter {
      RecordIdentity.origin(of: sources[$0]).hasPrefix("http:")
    }
    return indices.count == sources.count ? [] : Set(indices)
  }

  /// The index of the next source; zero, the download's own URL, if all have failed permanently.
  private var nextIndex: Int {
    guard let last else { return 0 }
    let round = (1...sources.count).map { (last + $0) % sources.count }
    let possible = round.filter { failures[$0]?.isRetryable ?? true }
    return possible.first { !lastResorts.contains($0) } ?? possible.first ?? 0
  }

  /// The URL of the next attempt.
  var next: String { sources[nextIndex] }

  /// Decides whether and when a download is retried after a failure.
  ///
  /// A source that has not failed yet is used without a wait, unless it has the same origin as the
  /// server that just asked for one.
  ///
  /// - Parameters:
  ///   - failure: Why the last attempt failed; the record already lists it.
  ///   - record: The record after the failure.
  ///   - policy: The number of attempts, and their waits.
  ///   - retryAfter: The wait that the server asked for.
  ///   - random: A random number in 0..<1.
  /// - Returns: The wait before the next attempt; `nil` if the download has failed permanently.
  static func wait(
    after failure: DownloadFailure,
    of record: DownloadRecord,
    _ policy: RetryPolicy,
    retryAfter: Duration?,
    random: Double
  ) -> Duration? {
    let policy = policy.applied(to: record)
    let wait = waitForSource(
      after: failure,
      of: record,
      policy,
      retryAfter: retryAfter,
      random: random
    )
    guard wait == nil, failure.code.isRefusal,
      policy.allowsAttempt(afterFailures: record.failedAttempts)
    else { return wait }
    let refusals = record.countedAttempts.count { $0.failure.code.isRefusal }
    return policy.wait(afterRefusals: Int32(refusals), random: random)
  }

  private static func waitForSource(
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
    // A local failure is the same for every source.
    guard !failure.code.traits.contains(.local), index != rotation.last else {
      return wait(failure.code, retryAfter)
    }
    // Another busy server has probably asked for a wait, too.
    if let code = rotation.failures[index] {
      return wait(code, code == .serverBusy ? retryAfter : nil)
    }
    let asksForPatience =
      retryAfter != nil
      && rotation.last.map { RecordIdentity.origin(of: rotation.sources[$0]) }
        == RecordIdentity.origin(of: rotation.sources[index])
    return asksForPatience ? wait(failure.code, retryAfter) : .zero
  }
}
