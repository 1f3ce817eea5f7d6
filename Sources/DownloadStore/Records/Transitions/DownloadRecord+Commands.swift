#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// The state machine of a record.
//
// Only the files of this folder assign `state`, `intent` and the fields that depend on them:
// attempts, retry dates, the generation, the byte counts with their validators, the identities of the
// files, the time at which the partial file was written, the origin of the validators, and the
// pending hooks.
// Each transition is pure and defined for every state and intent. The caller commits the result,
// after it has checked that the stored record is still the one it decided about.

// MARK: - Commands of the user

extension DownloadRecord {
  /// The record after a command; unchanged if the command has no effect in this state.
  ///
  /// A cancelled or removed download with a task or a partial file only gets the intent: its state
  /// stays one that engines examine, so that after a kill the next engine deletes the files.
  ///
  /// Pure, and defined for every state and intent.
  package func applying(_ command: DownloadCommand) -> Self {
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

  /// Whether the user has cancelled or removed the download.
  package var isGivenUp: Bool { intent == .cancel || intent == .remove }

  private mutating func pause() {
    guard !isGivenUp else { return }
    switch state {
    case .waiting, .running, .failedRetryable, .paused:
      state = .paused
      intent = .pause
      clearSchedule()
    case .finalizing:
      // A complete file gets its name without the network.
      intent = .pause
      clearSchedule()
    case .failedPermanent, .completed, .cancelled, .removed:
      break
    }
  }

  private mutating func resume(immediately: Bool) {
    guard !isGivenUp else { return }
    switch state {
    case .paused, .failedRetryable, .failedPermanent:
      requeue()
      startsImmediately = immediately
      if immediately { notBefore = nil }
    case .waiting:
      intent = .run
      isHeld = false
      startsImmediately = startsImmediately || immediately
      if immediately { notBefore = nil }
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
      pendingHooks = []
      clearSchedule()
    case .running, .finalizing:
      intent = .cancel
      clearSchedule()
    case .completed, .cancelled, .removed:
      break
    }
  }

  private mutating func restart() {
    guard state != .removed, !isNew else { return }
    restartFromFirstByte()
  }

  private mutating func remove(withFile: Bool) {
    removesFile = (withFile || (state == .removed && removesFile)) && !hasForeignFile
    state = .removed
    intent = .remove
    pendingHooks = []
    clearSchedule()
    // The previous file belongs to the record until a new one replaces it.
    if !hasForeignFile { fileIdentity = fileIdentity ?? replacedFileIdentity }
  }

  /// Whether the download waits and nothing has happened yet, so that a restart changes nothing.
  private var isNew: Bool {
    state == .waiting && intent == .run && !isHeld && received == 0 && failedAttempts == 0
      && unresolvedStarts == 0
  }

  /// Distinguishes what follows from the earlier transfers of the download.
  ///
  /// The number may come from a file, so it wraps around instead of trapping.
  mutating func beginGeneration() {
    generation &+= 1
  }

  mutating func clearSchedule() {
    isHeld = false
    startsImmediately = false
    nextRetryAt = nil
  }

  /// Queues the download again with the bytes on disk, and forgets its failures and its last end.
  mutating func requeue() {
    state = .waiting
    intent = .run
    failedAttempts = 0
    unresolvedStarts = 0
    pendingHooks = []
    clearSchedule()
  }

  /// Queues the download again from the first byte, under a new generation.
  ///
  /// Events of earlier transfers are ignored from now on. The finished file, if there is one, stays
  /// until the new one replaces it. A file that was adopted is not replaced: the new one gets another
  /// name.
  private mutating func restartFromFirstByte() {
    requeue()
    beginGeneration()
    count(ByteRanges())
    resolvedBytes = 0
    expected = nil
    entityTag = nil
    lastModified = nil
    validatorOrigin = nil
    resumeData = nil
    verifiedDigest = nil
    completedAt = nil
    if fileIdentity != nil {
      replacedFileIdentity = hasForeignFile ? nil : fileIdentity
      fileIdentity = nil
      hasForeignFile = false
    }
    removesFile = false
  }

  /// Applies a request for a URL that the store already knows.
  ///
  /// A completed download stays as it is; see ``restartCompleted(requiring:)``.
  package mutating func addAgain() {
    switch state {
    case .completed: break
    case .cancelled, .removed:
      restartFromFirstByte()
    case .paused, .failedPermanent, .failedRetryable:
      requeue()
    case .waiting, .running, .finalizing:
      // Active, unless a command to end it has not been carried out yet.
      intent = .run
      isHeld = false
    }
  }

  /// Queues a completed download again from the first byte, because its finished file is missing, was
  /// changed, or is not the one that is required.
  ///
  /// - Parameter digest: The digest that is required from now on; `nil` for the one before.
  package mutating func restartCompleted(requiring digest: Digest?) {
    if let digest { expectedDigest = digest.text }
    restartFromFirstByte()
  }

  /// Replaces the URL; the download continues from the bytes on disk, under a new generation.
  package mutating func move(to url: String) {
    if entityTag != nil || lastModified != nil {
      let origin = validatorOrigin ?? RecordIdentity.origin(of: self.url)
      validatorOrigin = origin == RecordIdentity.origin(of: url) ? nil : origin
    }
    self.url = url
    mirrors.removeAll { $0.utf8.elementsEqual(url.utf8) }
    // Resume data contains the old URL.
    resumeData = nil
    beginGeneration()
    switch state {
    case .running: state = .waiting
    case .failedRetryable, .failedPermanent: if !isGivenUp { requeue() }
    case .waiting, .paused, .finalizing, .completed, .cancelled, .removed: break
    }
    failedAttempts = 0
    unresolvedStarts = 0
  }
}

// MARK: - Earliest start

extension DownloadRecord {
  /// Sets the time before which the engine does not start the download; `nil` for any time.
  ///
  /// A download that is running continues.
  package mutating func postpone(until date: Date?) {
    notBefore = date
  }
}
