#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The effects of a refresh: a completed download asks whether the server has a newer version of its
// file. It is queued as a restarted one, and keeps what it knows about the finished file. That is what
// it returns to if there is no newer version, or if this cannot be downloaded.

extension DownloadRecord {
  /// Whether the finished file was downloaded by this record, so that a newer version may replace it.
  package var isRefreshable: Bool { fileIdentity != nil && !hasForeignFile }

  /// Whether the finished file may still be the earlier version: no newer one is about to get its name.
  ///
  /// Once it is, only the file system can tell which of the two has the name.
  package var isEarlierVersionInPlace: Bool {
    // The largest field last: most records are decided by the others.
    replacedFileIdentity != nil && fileIdentity == nil && refreshed != nil
  }

  /// Whether a newer version is complete, and gets the name of the finished file or has it already.
  package var hasCompleteNewerVersion: Bool {
    replacedFileIdentity != nil && fileIdentity != nil && refreshed != nil
  }

  /// Notes that the finished file still has its name, so that the record can return to it.
  mutating func withdrawNewerVersion() {
    if hasCompleteNewerVersion { fileIdentity = nil }
  }

  /// The time at which an engine asks for a newer version; `nil` if the download is not complete, or
  /// has no ``refreshEvery``.
  public var nextRefreshAt: Date? { refreshDates.first }

  /// Whether the time of the next refresh has come.
  ///
  /// A time that is further away than the period was stored before the clock was set back.
  package func isRefreshDue(at moment: Date) -> Bool {
    guard let next = nextRefreshAt else { return false }
    return next <= moment || next > moment.addingTimeInterval(TimeInterval(refreshEvery ?? 0))
  }

  /// Sets the time between two refreshes in seconds; `nil` for refreshes on command only.
  ///
  /// Counted from the last check of the finished file.
  package mutating func refresh(every seconds: Int64?) {
    guard seconds != refreshEvery else { return }
    refreshEvery = seconds
    scheduleRefresh(after: lastCheck)
  }

  /// The time of the last answer about the finished file, of the last attempt to get one, or else of
  /// its completion.
  private var lastCheck: Date? {
    let failure = refreshFailure == nil ? nil : attempts.last?.at
    return [completedAt, checkedAt, failure].compactMap { $0 }.max()
  }

  /// Sets the time of the next refresh after an event.
  ///
  /// The end of a refresh begins the next period, whatever the end is: a server that refuses is not
  /// asked again at once.
  mutating func scheduleRefresh(after event: Event, from old: DownloadState, at moment: Date) {
    if case .imported = event { return scheduleRefresh(after: lastCheck) }
    guard state == .completed else { return scheduleRefresh(after: nil) }
    if old != .completed { scheduleRefresh(after: moment) }
  }

  private mutating func scheduleRefresh(after check: Date?) {
    guard state == .completed, isRefreshable, let period = refreshEvery, let check else {
      if !refreshDates.isEmpty { refreshDates = [] }
      return
    }
    refreshDates = [check.addingTimeInterval(TimeInterval(period))]
  }

  /// Puts a refresh that cannot be requested off by one period, or for good if there is no file that it
  /// may replace.
  package mutating func skipRefresh(at moment: Date) {
    scheduleRefresh(after: moment)
    updatedAt = moment
  }

  /// The failure of the last refresh, which has left the finished file as it was; `nil` if the
  /// download is not complete, its last refresh has not failed, or it has got another URL since.
  public var refreshFailure: DownloadFailure? {
    state == .completed && failedAttempts > 0 ? attempts.last?.failure : nil
  }

  /// The version of the finished file, while the download asks for a newer one; `nil` once that is about
  /// to get its name, and outside of a refresh.
  package var earlierVersion: FinishedVersion? { isEarlierVersionInPlace ? refreshed : nil }

  /// Whether a refresh has left the finished file unasked about, because the user has cancelled it.
  ///
  /// - Parameter queued: The record while the refresh was queued or running.
  /// - Returns: Whether it was cancelled since.
  package func hasCancelledRefresh(since queued: DownloadRecord) -> Bool {
    queued.queuedRefresh.map(hasCancelled) ?? false
  }

  /// Whether a refresh was cancelled.
  package func hasCancelled(_ refresh: QueuedRefresh) -> Bool {
    state == .completed && refreshFailure == nil && completedAt == refresh.completedAt
      && checkedAt == refresh.checkedAt
  }

  /// The times that a cancel of the refresh leaves, and its other ends change.
  package struct QueuedRefresh: Sendable {
    fileprivate let completedAt: Date
    fileprivate let checkedAt: Date?
  }

  /// The refresh that is queued or running; `nil` outside of a refresh.
  package var queuedRefresh: QueuedRefresh? {
    refreshed.map { QueuedRefresh(completedAt: $0.completedAt, checkedAt: checkedAt) }
  }

  mutating func beginRefresh(at moment: Date) {
    let version = FinishedVersion(
      entityTag: entityTag,
      lastModified: lastModified,
      validatorOrigin: validatorOrigin,
      verifiedDigest: verifiedDigest,
      completedAt: completedAt ?? moment,
      hasPieceDigests: hasPieceDigests,
      awaitsHook: pendingHooks.contains(.completion),
      awaitsWebhook: pendingHooks.contains(.completionWebhook)
    )
    let checked = checkedAt
    restartFromFirstByte()
    (refreshed, checkedAt) = (version, checked)
  }

  /// Requires a digest of the newer version, which the finished one does not have, and keeps the
  /// digest that was required of that.
  ///
  /// A complete file has the digest that was required of it, so this is its verified one.
  package mutating func requireOfNewerVersion(_ digest: Digest) {
    let hasDigest = digest.text == refreshed?.verifiedDigest
    refreshed?.verifiedDigest = expectedDigest ?? (hasDigest ? digest.text : nil)
    expectedDigest = digest.text
  }

  /// Asks without a condition: the finished file is not what its validator says.
  package mutating func forgetValidator() {
    refreshed?.entityTag = nil
    refreshed?.lastModified = nil
  }

  /// Notes that the store does not require digests of pieces any more.
  package mutating func forgetRequiredPieces() {
    forgetPieces()
    if received == 0 { expected = nil }
  }

  /// Whether a refresh requires another digest than the finished file has.
  package var requiresNewerVersion: Bool {
    guard let earlierVersion, let expectedDigest else { return false }
    return earlierVersion.verifiedDigest != expectedDigest
  }

  /// Notes that the store has no digests of pieces of the finished file any more.
  package mutating func forgetPieces() {
    hasPieceDigests = false
    refreshed?.hasPieceDigests = false
  }

  /// Continues as a restarted download: there is no finished file to return to.
  mutating func forgetEarlierVersion() {
    (refreshed, checkedAt) = (nil, nil)
  }

  /// Returns to the finished file, under a new generation: a transfer that is still running has ended.
  ///
  /// - Parameter failures: The number of failed attempts; 0 if the refresh has ended otherwise.
  mutating func endRefresh(afterFailures failures: Int32 = 0) {
    guard let version = refreshed, let file = replacedFileIdentity else { return }
    let checked = checkedAt
    if requiresNewerVersion { expectedDigest = version.verifiedDigest }
    restartFromFirstByte()
    failedAttempts = failures
    checkedAt = checked
    fileIdentity = file
    replacedFileIdentity = nil
    count(ByteRanges(upTo: file.size))
    expected = file.size
    resolvedBytes = file.size
    entityTag = version.entityTag
    lastModified = version.lastModified
    validatorOrigin = version.validatorOrigin
    verifiedDigest = version.verifiedDigest
    completedAt = version.completedAt
    hasPieceDigests = hasPieceDigests && version.hasPieceDigests
    if version.awaitsHook { pendingHooks.insert(.completion) }
    if version.awaitsWebhook { pendingHooks.insert(.completionWebhook) }
  }
}
