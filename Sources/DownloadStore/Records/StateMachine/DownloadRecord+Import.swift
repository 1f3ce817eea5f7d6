// The effects of an import.

extension DownloadRecord {
  /// Drops what a record that comes from a file cannot have: a transfer, hooks to run, a file to
  /// delete, and bytes that no partial file of the store has.
  mutating func settleImport(from old: DownloadStatus, keepingBytes: Bool) {
    if mirrors.count > RecordLimits.mirrors {
      mirrors.removeLast(mirrors.count - RecordLimits.mirrors)
    }
    pendingHooks = []
    removesFile = false
    // The files of another store, or of an earlier time, are not this download's to delete.
    keptVersions = []
    if state != .failedRetryable { nextRetryAt = nil }
    guard state != .completed else { return }
    let wasActive = old.state.isDownloading
    if wasActive { unresolvedStarts = 0 }
    let isImpossible = expected.map { $0 < received } ?? false
    guard wasActive || isImpossible || !keepingBytes else { return }
    dropBytes()
    resolvedBytes = 0
    resumeData = nil
  }

  /// Whether another record counts the same bytes of the same file, in the same partial file.
  func countsSameBytes(as other: Self) -> Bool {
    id == other.id && received == other.received && ranges == other.ranges
      && expected == other.expected && entityTag == other.entityTag
      && lastModified == other.lastModified && resumeData == other.resumeData
      && partialWrittenAt == other.partialWrittenAt && partialIdentity == other.partialIdentity
      && validatorOrigin == other.validatorOrigin
  }
}
