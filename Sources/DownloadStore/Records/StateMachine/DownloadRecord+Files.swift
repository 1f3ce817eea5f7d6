#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// The effects of events on the finished file, and changes of its fields in a state that stays.

extension DownloadRecord {
  mutating func noteComplete(_ file: CompleteFile) {
    let identity = file.identity
    count(ByteRanges(upTo: identity.size))
    expected = identity.size
    resolvedBytes = max(resolvedBytes, identity.size)
    entityTag = file.entityTag
    lastModified = file.lastModified
    validatorOrigin = file.validatorOrigin
    verifiedDigest = file.verifiedDigest
    fileIdentity = identity
    // The file to replace stays the user's until the rename is known to have succeeded.
    if replacedFileIdentity == nil { hasForeignFile = false }
    notePartial(identity.size > 0 ? identity : nil)
  }

  /// The complete file that had perhaps not got its name when the download was restarted; `nil` if there
  /// is none.
  ///
  /// A record that counts no bytes has no other use for ``partialIdentity``.
  var unnamedFileIdentity: FileIdentity? { received == 0 ? partialIdentity : nil }

  /// Notes which of two files has the name, and is replaced: no other process renames one any more.
  mutating func settleReplaced(_ named: FileIdentity?) {
    guard let unnamed = unnamedFileIdentity else { return }
    partialIdentity = nil
    guard named == unnamed else { return }
    replacedFileIdentity = unnamed
    hasForeignFile = false
  }

  mutating func complete(
    marking hooks: Set<DownloadHook>,
    keeping versions: [KeptVersion]?,
    at moment: Date
  ) {
    if let versions { keptVersions = versions }
    pendingHooks = hooks.intersection(DownloadHook.completions)
    // A cancel that was withdrawn may have uncounted the bytes after the file had its name.
    if let file = fileIdentity {
      if !describes(file) { (entityTag, lastModified, validatorOrigin) = (nil, nil, nil) }
      count(ByteRanges(upTo: file.size))
      expected = file.size
    }
    completedAt = moment
    failedAttempts = 0
    unresolvedStarts = 0
    resumeData = nil
    if replacedFileIdentity != nil { hasForeignFile = false }
    replacedFileIdentity = nil
    refreshed = nil
    checkedAt = nil
    clearSchedule()
  }

  /// Whether the bytes and the validators are those of the finished file, which has been the partial
  /// one.
  ///
  /// They are not if the file was lost with its volume, the download began again, perhaps with another
  /// version, and the volume has returned.
  private func describes(_ file: FileIdentity) -> Bool {
    file.size > 0 ? partialIdentity == file : expected == 0
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

  /// Notes that the finished file has another identity, because it was copied or moved.
  mutating func acceptFile(_ identity: FileIdentity, at moment: Date) {
    fileIdentity = identity
    updatedAt = moment
  }

  mutating func adoptFile(_ identity: FileIdentity, at moment: Date) {
    fileIdentity = identity
    hasForeignFile = true
    count(ByteRanges(upTo: identity.size))
    expected = identity.size
    completedAt = moment
    failedAttempts = 0
  }

  /// Counts the bytes of a partial file that another program has begun, which are synced.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - byteCount: The size of the complete file; `nil` if it is unknown.
  ///   - file: The identity of the partial file.
  ///   - moment: The time of the change.
  package mutating func adoptBytes(
    _ bytes: ByteRanges,
    of byteCount: Int64?,
    file: FileIdentity?,
    at moment: Date
  ) {
    count(bytes)
    if !bytes.isEmpty { notePartial(file) }
    resolvedBytes = received
    expected = byteCount ?? expected
    updatedAt = moment
  }

  mutating func repair(_ file: DamagedFile) {
    requeue()
    beginGeneration()
    count(file.kept)
    if !file.kept.isEmpty { notePartial(file.partial) }
    resolvedBytes = received
    verifiedDigest = nil
    completedAt = nil
    replacedFileIdentity = file.replaced
    fileIdentity = nil
    hasForeignFile = false
    removesFile = false
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
