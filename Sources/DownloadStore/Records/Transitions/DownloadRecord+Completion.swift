#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// Transitions: the finished file.

extension DownloadRecord {
  /// Notes that the complete, synced partial file is about to get its name.
  ///
  /// After a kill, the identity tells whether the rename has happened.
  package mutating func finalize(
    _ identity: FileIdentity,
    entityTag: String?,
    lastModified: String?,
    validatorOrigin: String? = nil,
    verifiedDigest: String?,
    at moment: Date
  ) {
    state = .finalizing
    count(ByteRanges(upTo: identity.size))
    expected = identity.size
    resolvedBytes = max(resolvedBytes, identity.size)
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.validatorOrigin = validatorOrigin
    self.verifiedDigest = verifiedDigest
    fileIdentity = identity
    hasForeignFile = false
    if identity.size > 0 { notePartial(identity) }
    updatedAt = moment
  }

  /// Notes that the file has its name.
  ///
  /// - Parameters:
  ///   - hooks: The hooks to mark as pending, of which only that of a completion applies.
  ///   - moment: The time of completion.
  package mutating func complete(marking hooks: Set<DownloadHook> = [], at moment: Date) {
    state = .completed
    pendingHooks = hooks.intersection([.completion])
    completedAt = moment
    updatedAt = moment
    failedAttempts = 0
    unresolvedStarts = 0
    resumeData = nil
    replacedFileIdentity = nil
    clearSchedule()
  }

  /// Notes that the file with the name of the finished one was read and has a digest, although its
  /// metadata may have changed.
  package mutating func confirmFile(_ identity: FileIdentity, _ digest: Digest) {
    fileIdentity = identity
    hasForeignFile = false
    count(ByteRanges(upTo: identity.size))
    expected = identity.size
    verifiedDigest = digest.text
  }

  /// Adopts an existing file as the finished one, unread.
  ///
  /// It stays the user's: no command deletes or replaces it.
  package mutating func adoptFile(_ identity: FileIdentity, at moment: Date) {
    fileIdentity = identity
    hasForeignFile = true
    count(ByteRanges(upTo: identity.size))
    expected = identity.size
    state = .completed
    completedAt = moment
  }

  /// Counts the bytes of a partial file that another program has begun, which are synced.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - byteCount: The size of the complete file.
  ///   - file: The identity of the partial file.
  ///   - moment: The time of the change.
  package mutating func adoptBytes(
    _ bytes: ByteRanges,
    of byteCount: Int64,
    file: FileIdentity?,
    at moment: Date
  ) {
    count(bytes)
    if !bytes.isEmpty { notePartial(file) }
    resolvedBytes = received
    expected = byteCount
    updatedAt = moment
  }

  /// Queues a completed download again, whose file has damaged bytes; the partial file has the
  /// others.
  ///
  /// - Parameters:
  ///   - kept: The bytes of the partial file, which are synced.
  ///   - identity: The identity of the finished file, which stays until the repaired one replaces it.
  ///   - file: The identity of the partial file.
  ///   - moment: The time of the repair.
  package mutating func repair(
    keeping kept: ByteRanges,
    replacing identity: FileIdentity?,
    file: FileIdentity?,
    at moment: Date
  ) {
    requeue()
    beginGeneration()
    count(kept)
    if !kept.isEmpty { notePartial(file) }
    resolvedBytes = received
    verifiedDigest = nil
    completedAt = nil
    replacedFileIdentity = identity
    fileIdentity = nil
    hasForeignFile = false
    removesFile = false
    updatedAt = moment
  }

  /// Notes that a hook has succeeded.
  package mutating func finishHook(_ hook: DownloadHook) {
    pendingHooks.remove(hook)
  }

  /// Notes that the finished file replaces an existing one.
  package mutating func replaceFile(_ identity: FileIdentity) {
    replacedFileIdentity = identity
    hasForeignFile = true
  }
}
