extension DownloadRecord {
  /// The record after a wish; the same one where there is nothing to change.
  ///
  /// Pure and total. What is only on its way is written as intent, which a reconciliation carries
  /// out: a cancelled or removed download goes by way of a state that engines look at, so that a
  /// kill before its bytes are deleted leaves somebody who deletes them.
  public func applying(_ command: DownloadCommand) -> Self {
    var record = self
    switch command {
    case .pause: record.pause()
    case .resume(let immediately): record.resume(immediately: immediately)
    case .cancel: record.cancel()
    case .restart: record.restart()
    case .remove(let withFile): record.remove(withFile: withFile)
    }
    return record
  }

  /// Whether the user cancelled or removed the download and its files are not deleted yet.
  package var isToBeDeleted: Bool {
    state == .removed || intent == .remove || (intent == .cancel && state != .cancelled)
  }

  /// Whether it is about to end for good, which a pause does not undo.
  private var isGivenUp: Bool { intent == .cancel || intent == .remove }

  private mutating func pause() {
    guard !isGivenUp else { return }
    switch state {
    case .waiting, .running, .failedRetryable, .paused:
      state = .paused
      intent = .pause
      stopWaiting()
    case .finalizing:
      // No network is needed to give a complete file its name.
      intent = .pause
      stopWaiting()
    case .failedPermanent, .completed, .cancelled, .removed:
      break
    }
  }

  private mutating func resume(immediately: Bool) {
    guard !isGivenUp else { return }
    switch state {
    case .paused, .failedRetryable, .failedPermanent:
      proceed()
      startsImmediately = immediately
    case .waiting:
      intent = .run
      isHeld = false
      startsImmediately = startsImmediately || immediately
    case .running, .finalizing:
      intent = .run
    case .completed, .cancelled, .removed:
      break
    }
  }

  private mutating func cancel() {
    guard !isGivenUp else { return }
    switch state {
    case .waiting, .failedRetryable, .paused, .failedPermanent:
      state = .waiting
      intent = .cancel
      stopWaiting()
    case .running, .finalizing:
      intent = .cancel
      stopWaiting()
    case .completed, .cancelled, .removed:
      break
    }
  }

  private mutating func restart() {
    guard state != .removed, !isFresh else { return }
    startOver()
  }

  private mutating func remove(withFile: Bool) {
    removesFile = withFile || (state == .removed && removesFile)
    state = .removed
    intent = .remove
    stopWaiting()
    // The file of before is its file as long as there is no other.
    fileIdentity = fileIdentity ?? replacedFileIdentity
  }

  /// Whether it waits with nothing done yet, so that there is nothing to begin again.
  private var isFresh: Bool {
    state == .waiting && intent == .run && !isHeld && received == 0 && failedAttempts == 0
      && unresolvedStarts == 0
  }

  private mutating func stopWaiting() {
    isHeld = false
    startsImmediately = false
    nextRetryAt = nil
  }

  /// Has the download go on with what is on disk, its failures forgotten.
  mutating func proceed() {
    state = .waiting
    intent = .run
    failedAttempts = 0
    unresolvedStarts = 0
    stopWaiting()
  }

  /// Has the download begin from nothing.
  ///
  /// What is still heard of transfers of before is not applied.
  mutating func startOver() {
    proceed()
    generation += 1
    received = 0
    resolvedBytes = 0
    expected = nil
    entityTag = nil
    lastModified = nil
    resumeData = nil
    verifiedDigest = nil
    completedAt = nil
    replacedFileIdentity = fileIdentity ?? replacedFileIdentity
    fileIdentity = nil
    removesFile = false
  }
}
