#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// The effects of the beginning and the end of an attempt that has not completed the download.

extension DownloadRecord {
  mutating func start(keepingBytes: Bool, at moment: Date) {
    if !keepingBytes { dropBytes() }
    noteWriting(from: moment)
    beginGeneration()
    nextRetryAt = nil
    startsImmediately = false
  }

  mutating func adoptTask(entityTag: String?, lastModified: String?, at moment: Date) {
    noteWriting(from: moment)
    if received == 0 {
      self.entityTag = entityTag
      self.lastModified = lastModified
      validatorOrigin = nil
    }
    resumeData = nil
    unresolvedStarts = 0
    nextRetryAt = nil
  }

  /// Notes that a transfer writes to the partial file from now on.
  ///
  /// It may be killed after a write and before its first checkpoint.
  private mutating func noteWriting(from moment: Date) {
    partialWrittenAt = partialWrittenAt.map { max($0, moment) }
  }

  /// Lists and counts a failed attempt, and returns the wait before the next one; `nil` to give up.
  mutating func count(_ attempt: FailedAttempt, at moment: Date) -> Duration? {
    note(attempt.failure, from: attempt.source, at: moment)
    if attempt.dropsBytes {
      dropBytes()
      resumeData = nil
    }
    failedAttempts = failedAttempts.successor
    return attempt.wait(self)
  }

  /// Schedules the next attempt, or marks the hooks of a failure.
  mutating func finish(
    _ attempt: FailedAttempt,
    retryingAfter wait: Duration?,
    at moment: Date
  ) {
    if state == .completed { endRefresh(afterFailures: failedAttempts) }
    if state == .failedPermanent {
      pendingHooks = attempt.hooks.intersection(DownloadHook.failures)
    }
    nextRetryAt =
      state == .failedRetryable
      ? wait.map { moment.addingTimeInterval($0 / .seconds(1)) } : nil
  }

  /// Counts a crash of the process during a transfer, and returns whether the download is given up.
  ///
  /// The process may have crashed because of a transfer that ran. A crash is counted for each of
  /// them, but only a download that ran alone is known to be the cause. Neither progress nor a failed
  /// attempt uncounts a crash: a server may send some bytes each time before it crashes the process.
  mutating func isCrashSuspect(after record: UnattendedRecord) -> Bool {
    let hasCrashed = state == .running && record.crash != .none
    if hasCrashed { unresolvedStarts = unresolvedStarts.successor }
    let isAlone = hasCrashed && record.crash == .alone
    return unresolvedStarts / (isAlone ? 1 : Self.crashLimitBesideOthers) >= record.maximumCrashes
  }

  /// How many times as many crashes a download may take part in if others always ran beside it.
  private static let crashLimitBesideOthers: Int32 = 4

  /// Notes why a download was given up as the suspect of crashes; does nothing for one that was not.
  mutating func noteQuarantine(of record: UnattendedRecord, at moment: Date) {
    guard state == .failedPermanent || state == .completed else { return }
    if state == .failedPermanent {
      pendingHooks = record.hooks.intersection(DownloadHook.failures)
    }
    note(
      DownloadFailure(
        .quarantined,
        "the process crashed \(unresolvedStarts) times while this was transferred"
      ),
      from: record.source,
      at: moment
    )
    if state == .completed { endRefresh(afterFailures: failedAttempts.successor) }
  }

  /// Adds a failure to ``attempts``, and drops the oldest ones over the limit.
  mutating func note(_ failure: DownloadFailure, from source: String, at moment: Date) {
    attempts.append(Attempt(at: moment, url: source, failure: failure, received: received))
    if attempts.count > Attempt.limit { attempts.removeFirst(attempts.count - Attempt.limit) }
  }
}

extension Int32 {
  /// The next number, up to the largest one: a count in a record may come from a file.
  var successor: Int32 { self < .max ? self + 1 : .max }
}
