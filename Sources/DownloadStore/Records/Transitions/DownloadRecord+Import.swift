// Transitions: a record that comes from a file.

extension DownloadRecord {
  /// Prepares a record of another store, or of an earlier time, to be stored.
  ///
  /// No transfer of it runs, no hook has still to be run for it, and no file is deleted with it that
  /// its own store has not deleted. A state that only a running engine can have becomes the one in
  /// which an engine would find the download after its end.
  ///
  /// - Parameter keepingBytes: Whether the bytes that it counts are those of the partial file in the
  ///   store.
  mutating func settleImport(keepingBytes: Bool) {
    if mirrors.count > RecordLimits.mirrors {
      mirrors.removeLast(mirrors.count - RecordLimits.mirrors)
    }
    pendingHooks = []
    removesFile = false
    if state == .paused, intent == .run { intent = .pause }
    guard state != .completed else { return }
    let wasActive = state.isDownloading
    if wasActive {
      awaitAttempt()
      unresolvedStarts = 0
    }
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
