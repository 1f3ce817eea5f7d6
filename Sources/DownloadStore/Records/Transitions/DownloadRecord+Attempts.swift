#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// Transitions: the end of an attempt that has not completed the download.

extension DownloadRecord {
  /// Notes a failed attempt, and decides whether another one follows.
  ///
  /// - Parameters:
  ///   - failure: Why the attempt failed.
  ///   - source: The URL that was requested.
  ///   - moment: The time of the failure.
  ///   - droppingBytes: Whether the bytes on disk are useless, so that the next attempt starts from
  ///     the first byte.
  ///   - hooks: The hooks to mark as pending if the download fails permanently.
  ///   - wait: The wait before the next attempt, given the record with the failure; `nil` to give
  ///     up. The only place that knows the limits of retries.
  /// - Returns: That wait.
  package mutating func fail(
    _ failure: DownloadFailure,
    from source: String,
    at moment: Date,
    droppingBytes: Bool = false,
    marking hooks: Set<DownloadHook> = [],
    retryingAfter wait: (Self) -> Duration?
  ) -> Duration? {
    note(failure, from: source, at: moment)
    if droppingBytes {
      dropBytes()
      resumeData = nil
    }
    failedAttempts = failedAttempts.successor
    let wait = wait(self)
    if wait == nil {
      state = .failedPermanent
      pendingHooks = hooks.intersection([.failure])
    } else if intent == .pause {
      state = .paused
    } else if droppingBytes, wait == .zero {
      state = .waiting
    } else {
      state = .failedRetryable
    }
    nextRetryAt =
      state == .failedRetryable
      ? wait.map { moment.addingTimeInterval($0 / .seconds(1)) } : nil
    return wait
  }

  /// Returns the record to the queue without counting an attempt, because this machine lacks disk
  /// space, descriptors or memory.
  ///
  /// - Parameters:
  ///   - failure: The failure to list among the attempts, once per wait; `nil` for none.
  ///   - source: The URL that was requested.
  ///   - moment: The time of the failure.
  package mutating func deferAttempt(
    noting failure: DownloadFailure? = nil,
    from source: String,
    at moment: Date
  ) {
    if let failure, attempts.last?.failure != failure {
      note(failure, from: source, at: moment)
    }
    awaitAttempt()
    updatedAt = moment
  }

  /// Makes the record wait for its next attempt; one that the user has paused becomes `paused`.
  ///
  /// A record in `finalizing` may have the intent `pause` without being paused, because a rename
  /// needs no network. If the rename comes to nothing, the next attempt does need it.
  package mutating func awaitAttempt() {
    state = intent == .pause ? .paused : .waiting
  }

  /// Requeues a record that no task works for any more, or gives it up as a crash suspect.
  ///
  /// The process may have crashed because of a transfer that ran. A crash is counted for each of
  /// them, but only a download that ran alone is known to be the cause. Neither progress nor a failed
  /// attempt uncounts a crash: a server may send some bytes each time before it crashes the process.
  ///
  /// - Parameters:
  ///   - state: `waiting` or `failedRetryable`.
  ///   - crash: Whether the process crashed, and which downloads it was transferring.
  ///   - maximumCrashes: The number of crashes after which a download that ran alone in the last one
  ///     fails permanently. Beside others it does after ``crashLimitBesideOthers`` times as many.
  ///   - source: The URL that was requested.
  ///   - hooks: The hooks to mark as pending if the record is given up.
  ///   - moment: The time of the decision.
  package mutating func requeue(
    as state: DownloadState,
    after crash: CrashScope,
    maximumCrashes: Int32,
    source: String,
    marking hooks: Set<DownloadHook> = [],
    at moment: Date
  ) {
    let hasCrashed = self.state == .running && crash != .none
    if hasCrashed { unresolvedStarts = unresolvedStarts.successor }
    self.state = state
    let isAlone = hasCrashed && crash == .alone
    guard unresolvedStarts / (isAlone ? 1 : Self.crashLimitBesideOthers) >= maximumCrashes else {
      return
    }
    self.state = .failedPermanent
    pendingHooks = hooks.intersection([.failure])
    note(
      DownloadFailure(
        .quarantined,
        "the process crashed \(unresolvedStarts) times while this was transferred"
      ),
      from: source,
      at: moment
    )
  }

  /// How many times as many crashes a download may take part in if others always ran beside it.
  ///
  /// A limit for a cause that never shows while its download runs alone.
  private static let crashLimitBesideOthers: Int32 = 4

  /// Notes that the files of a cancelled download are deleted.
  package mutating func finishCancellation() {
    state = .cancelled
    if received > 0 { dropBytes() }
  }

  /// Pauses a record whose transfer or rename has ended, as its intent says.
  package mutating func finishPause() {
    state = .paused
  }

  /// Adds a failure to ``attempts``, and drops the oldest ones over the limit.
  private mutating func note(
    _ failure: DownloadFailure,
    from source: String,
    at moment: Date
  ) {
    attempts.append(Attempt(at: moment, url: source, failure: failure, received: received))
    if attempts.count > Attempt.limit { attempts.removeFirst(attempts.count - Attempt.limit) }
    updatedAt = moment
  }
}

extension Int32 {
  /// The next number, up to the largest one: a count in a record may come from a file.
  var successor: Int32 { self < .max ? self + 1 : .max }
}
