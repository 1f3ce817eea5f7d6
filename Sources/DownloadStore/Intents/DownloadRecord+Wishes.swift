extension DownloadRecord {
  /// The record after a wish; the same one where there is nothing to change.
  ///
  /// Pure and total. What is only on its way is written as intent, which a reconciliation carries
  /// out: a cancelled or removed download goes by way of a state that engines look at, so that a
  /// kill before its bytes are deleted leaves somebody who deletes them.
  public func granting(_ wish: Wish) -> Self {
    var record = self
    switch wish {
    case .pause: record.pause()
    case .resume(let atOnce): record.resume(atOnce: atOnce)
    case .cancel: record.cancel()
    case .restart: record.restart()
    case .remove(let withFile): record.remove(withFile: withFile)
    }
    return record
  }

  /// Whether the user cancelled or removed the download and its files are not deleted yet.
  package var isToBeDeleted: Bool {
    state == .removed || intent == .discard || (intent == .keep && state != .cancelled)
  }

  /// Whether it is about to end for good, which a pause does not undo.
  private var isGivenUp: Bool { intent == .keep || intent == .discard }

  private mutating func pause() {
    guard !isGivenUp else { return }
    switch state {
    case .waiting, .running, .failedRetryable, .paused:
      state = .paused
      intent = .hold
      stopWaiting()
    case .finalizing:
      // No network is needed to give a complete file its name.
      intent = .hold
      stopWaiting()
    case .failedPermanent, .completed, .cancelled, .removed:
      break
    }
  }

  private mutating func resume(atOnce: Bool) {
    guard !isGivenUp else { return }
    switch state {
    case .paused, .failedRetryable, .failedPermanent:
      proceed()
      startsAtOnce = atOnce
    case .waiting:
      intent = .run
      isHeldByHand = false
      startsAtOnce = startsAtOnce || atOnce
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
      intent = .keep
      stopWaiting()
    case .running, .finalizing:
      intent = .keep
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
    intent = .discard
    stopWaiting()
    // The file of before is its file as long as there is no other.
    stamp = stamp ?? replacedStamp
  }

  /// Whether it waits with nothing done yet, so that there is nothing to begin again.
  private var isFresh: Bool {
    state == .waiting && intent == .run && !isHeldByHand && received == 0 && failedAttempts == 0
      && unresolvedStarts == 0
  }

  private mutating func stopWaiting() {
    isHeldByHand = false
    startsAtOnce = false
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
    resumeBlob = nil
    verifiedDigest = nil
    completedAt = nil
    replacedStamp = stamp ?? replacedStamp
    stamp = nil
    removesFile = false
  }
}
