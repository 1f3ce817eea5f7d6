#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// The state machine of a record.
//
// `apply(_:at:)` is the only function that changes `state` and `intent`. The other files of this
// folder change the fields that depend on them: attempts, retry dates, the generation, the byte counts
// with their validators, the identities of the files, the time at which the partial file was written,
// and the pending hooks. Their setters are `package`, as those of all fields; `TransitionOwnershipTests`
// checks that no file outside of this folder assigns them.
//
// The functions are pure. The caller commits the result, after it has checked that the stored record
// is still the one it decided about.

extension DownloadRecord {
  /// What an event did to a record.
  package struct Outcome: Sendable, Hashable {
    /// Whether the record has changed.
    package var hasChanged: Bool
    /// The wait before the next attempt after a failed one; `nil` if none follows.
    package var wait: Duration?
  }

  /// Whether the record accepts an event.
  package func accepts(_ event: Event) -> Bool {
    TransitionTable.entry(for: event.kind, in: status) != .illegal
  }

  /// Applies an event: changes the state and the intent as ``TransitionTable`` says, and the fields
  /// that depend on them.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - moment: The time of the event, which becomes ``updatedAt`` if the record changes.
  /// - Returns: What has changed. A command may have no effect.
  /// - Throws: ``TransitionError``, and changes nothing, if the event must not occur in the position
  ///   of the record.
  @discardableResult
  package mutating func apply(
    _ event: Event,
    at moment: Date
  ) throws(TransitionError) -> Outcome {
    let old = status
    guard TransitionTable.entry(for: event.kind, in: old) != .illegal else {
      throw TransitionError(event: event.kind, status: old)
    }
    // Most records that are examined at launch do not change, and are not written.
    let before = event.mayChangeNothing ? self : nil
    var outcome = Outcome(hasChanged: true)
    let kind = decide(event, &outcome, at: moment)
    switch TransitionTable.entry(for: kind, in: old) {
    case .becomes(let new): (state, intent) = (new.state, new.intent)
    case .ignored: return Outcome(hasChanged: false)
    case .illegal: throw TransitionError(event: kind, status: old)
    }
    take(event, from: old, outcome, at: moment)
    scheduleRefresh(after: event, from: old.state, at: moment)
    if let before { outcome.hasChanged = self != before }
    if outcome.hasChanged { updatedAt = moment }
    return outcome
  }

  /// Returns the kind of an event, and counts the attempt or the crash on which it depends.
  private mutating func decide(
    _ event: Event,
    _ outcome: inout Outcome,
    at moment: Date
  ) -> Event.Kind {
    switch event {
    case .attemptFailed(let attempt):
      outcome.wait = count(attempt, at: moment)
      guard let wait = outcome.wait else {
        if attempt.named == .earlier { withdrawNewerVersion() }
        return isEarlierVersionInPlace ? .refreshFailed : .failed
      }
      return attempt.dropsBytes && wait == .zero ? .attemptRestarted : .attemptFailed
    case .unattended(let record):
      guard isCrashSuspect(after: record) else { return event.kind }
      return isEarlierVersionInPlace ? .refreshFailed : .quarantined
    case .command(.refresh):
      return state == .completed && !isRefreshable ? .refreshRefused : .refresh
    case .notModified:
      guard !isEarlierVersionInPlace else { return event.kind }
      // Another digest is required since the request, which the next one makes without a condition.
      return state == .paused ? .pauseCarriedOut : .attemptRestarted
    case .cancellationCarriedOut(let named, _, _):
      if named == .earlier { withdrawNewerVersion() }
      let hasFile = isEarlierVersionInPlace || named == .newer && hasCompleteNewerVersion
      return hasFile ? .refreshCancelled : event.kind
    default:
      return event.kind
    }
  }

  /// Changes the fields that depend on the state, which is already the new one.
  private mutating func take(
    _ event: Event,
    from old: DownloadStatus,
    _ outcome: Outcome,
    at moment: Date
  ) {
    // Those of a complete download are of its last refresh.
    if old.state == .completed, state != .completed { failedAttempts = 0 }
    switch event {
    case .command(.refresh): beginRefresh(at: moment)
    case .command(let command): take(command, from: old)
    case .addedAgain: addAgain(from: old)
    case .moved(let url): move(to: url, from: old)
    case .imported(let keepingBytes): settleImport(from: old, keepingBytes: keepingBytes)
    case .started(let keepingBytes, let lacksEarlierVersion, let replaced):
      if lacksEarlierVersion { forgetEarlierVersion() }
      settleReplaced(replaced)
      start(keepingBytes: keepingBytes, at: moment)
    case .taskAdopted(let entityTag, let lastModified):
      adoptTask(entityTag: entityTag, lastModified: lastModified, at: moment)
    case .interrupted(let isHeld, let resumeData):
      if isHeld { self.isHeld = true }
      if let resumeData { replaceResumeData(with: resumeData) }
    case .attemptFailed(let attempt): finish(attempt, retryingAfter: outcome.wait, at: moment)
    case .attemptDeferred(let failure, let source):
      if let failure, attempts.last?.failure != failure {
        note(failure, from: source, at: moment)
      }
    case .unattended(let record): noteQuarantine(of: record, at: moment)
    case .cancellationCarriedOut(_, let hooks, let versions):
      if state != .completed {
        if received > 0 { dropBytes() }
      } else if isEarlierVersionInPlace {
        endRefresh()
      } else {
        complete(marking: hooks, keeping: versions, at: moment)
      }
    case .transferContinued, .fileLost, .pauseCarriedOut: break
    case .notModified:
      guard isEarlierVersionInPlace else { break }
      endRefresh()
      checkedAt = moment
    case .fileComplete(let file): noteComplete(file)
    case .completed(let hooks, let versions):
      complete(marking: hooks, keeping: versions, at: moment)
    case .fileAdopted(let identity): adoptFile(identity, at: moment)
    case .fileRejected(let digest):
      if let digest { expectedDigest = digest.text }
      restartFromFirstByte()
    case .fileDamaged(let file): repair(file)
    }
  }
}

extension DownloadRecord.Event {
  /// Whether the event leaves some records as they are.
  fileprivate var mayChangeNothing: Bool {
    switch self {
    case .command, .addedAgain, .imported, .unattended, .transferContinued, .pauseCarriedOut,
      .cancellationCarriedOut:
      true
    default: false
    }
  }
}
