#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// The effects of the user's commands on the fields that depend on the state. The state is already the
// new one; the previous one is given.

extension DownloadRecord {
  mutating func take(_ command: DownloadCommand, from old: DownloadStatus) {
    switch command {
    case .pause: clearSchedule()
    case .resume(let immediately): resume(from: old, immediately: immediately)
    case .cancel:
      if old.state != .running, old.state != .finalizing { pendingHooks = [] }
      clearSchedule()
    case .restart: if !isNew(old) { restartFromFirstByte() }
    case .refresh: break
    case .remove(let withFile): remove(from: old, withFile: withFile)
    }
  }

  private mutating func resume(from old: DownloadStatus, immediately: Bool) {
    switch old.state {
    case .paused, .failedRetryable, .failedPermanent:
      requeue()
      startsImmediately = immediately
      if immediately { notBefore = nil }
    case .waiting:
      isHeld = false
      startsImmediately = startsImmediately || immediately
      if immediately { notBefore = nil }
    case .running, .finalizing, .completed, .cancelled, .removed:
      break
    }
  }

  private mutating func remove(from old: DownloadStatus, withFile: Bool) {
    let own = ownFileIdentity
    removesFile =
      (withFile || (old.state == .removed && removesFile)) && (!hasForeignFile || own != nil)
    pendingHooks = []
    clearSchedule()
    if let own { fileIdentity = own }
  }

  /// Whether the download waited and nothing had happened yet, so that a restart changes nothing.
  private func isNew(_ old: DownloadStatus) -> Bool {
    old == DownloadStatus(.waiting, .run) && !isHeld && received == 0 && failedAttempts == 0
      && unresolvedStarts == 0 && refreshed == nil
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

  /// Forgets the failures, the crashes and the last end of a download that is queued again.
  mutating func requeue() {
    failedAttempts = 0
    unresolvedStarts = 0
    pendingHooks = []
    clearSchedule()
  }

  /// Forgets everything that is known about the file, under a new generation.
  ///
  /// Events of earlier transfers are ignored from now on. The finished file, if there is one, stays
  /// until the new one replaces it. A file that was adopted is not replaced: the new one gets another
  /// name.
  mutating func restartFromFirstByte() {
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
    checkedAt = nil
    refreshed = nil
    if let file = fileIdentity { replaceNext(file) }
    removesFile = false
  }

  /// Notes that the next file replaces the one with this identity, or the one that this was to replace:
  /// an engine that is renaming it, or has failed to, knows which has the name.
  private mutating func replaceNext(_ file: FileIdentity) {
    fileIdentity = nil
    if replacedFileIdentity == nil {
      replacedFileIdentity = hasForeignFile ? nil : file
      hasForeignFile = false
    } else if file != replacedFileIdentity {
      partialIdentity = file
    }
  }

  mutating func addAgain(from old: DownloadStatus) {
    switch old.state {
    case .completed: break
    case .cancelled, .removed: restartFromFirstByte()
    case .paused, .failedPermanent, .failedRetryable: requeue()
    // Active, unless a command to end it has not been carried out yet.
    case .waiting, .running, .finalizing: isHeld = false
    }
  }

  mutating func move(to url: String, from old: DownloadStatus) {
    if entityTag != nil || lastModified != nil {
      validatorOrigin = origin(validatorOrigin, movedTo: url)
    }
    if let version = refreshed, version.hasValidator {
      let origin = origin(version.validatorOrigin, movedTo: url)
      refreshed?.validatorOrigin = origin
    }
    self.url = url
    mirrors.removeAll { $0.utf8.elementsEqual(url.utf8) }
    // Resume data contains the old URL.
    resumeData = nil
    beginGeneration()
    // A failed download is queued again.
    if old.state != state, old.state != .running { requeue() }
    failedAttempts = 0
    unresolvedStarts = 0
  }

  /// The origin of a validator once the record has another URL; `nil` for that of the URL, before and
  /// after.
  private func origin(_ known: String?, movedTo url: String) -> String? {
    let origin = known ?? RecordIdentity.origin(of: self.url)
    return origin == RecordIdentity.origin(of: url) ? nil : origin
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
