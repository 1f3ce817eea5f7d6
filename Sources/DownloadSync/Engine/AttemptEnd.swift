internal import DownloadStore
internal import Foundation

/// The end of an attempt that has not completed its download.
///
/// Decides what the end does to the record, and what the engine does after that is committed. Pure:
/// the clock, the random number and the delay of a shortage are passed in.
struct AttemptEnd: Sendable {
  /// What follows for the bytes on disk.
  enum Bytes: Sendable, Hashable {
    /// They count.
    case keep
    /// They are useless.
    case drop
    /// They are useless, and the next attempt, if one is left, starts without a wait.
    ///
    /// The value is the number of bytes that the store has counted.
    case restart(from: Int64)
  }

  /// Whether the attempt counts.
  ///
  /// The raw values are messages of the log.
  enum Kind: String, Sendable, Hashable {
    case failed = "fail"
    /// Not a failed attempt: the download waits for free space.
    case lacksDiskSpace = "wait for disk space"
    /// Not a failed attempt: the download waits for descriptors or memory.
    case lacksResources = "wait for resources"
    /// Not a failed attempt: the finished file whose bytes were copied is of no use, so the next
    /// attempt requests them.
    case refusesCopy = "request instead of copying"
  }

  /// What a commit needs to know besides the record.
  struct Settings: Sendable {
    var retry: RetryPolicy
    /// The hooks to mark.
    var hooks: Set<DownloadHook> = []
    /// A random number in 0..<1.
    var random: Double
    var moment: Date
    /// As in `DownloadRecord.FailedAttempt`.
    var named: DownloadRecord.NamedVersion?
  }

  /// What was committed.
  struct Committed: Sendable {
    var record: DownloadRecord
    /// The failure that the record lists.
    var failure: DownloadFailure
    /// The wait before the next attempt; `nil` if the download failed permanently or is deferred.
    var wait: Duration?
  }

  /// What the engine does after the commit.
  enum Effect: Sendable, Hashable {
    /// Delete the partial file.
    case removePartial
    /// Report that bytes are lost.
    case reportLoss(Int64)
    /// Report that the engine has nothing more to do with the download.
    case release
    /// Report that the download continues when its volume has free space.
    case reportFullDisk
    /// Report the next attempt, before which all downloads wait.
    case reportShortage
    /// Report the next attempt to observers and response interceptors.
    case reportRetry(wait: Duration)
    /// Count a failed download, and report it to response interceptors and then to observers.
    case reportFailure
    /// Report the end of a paused download to response interceptors and then to observers.
    case reportPause
    /// Return the download to the queue; `nil` to compute its wait from the record.
    ///
    /// - `size`: The size of the file, if the record does not store it.
    case enqueue(after: Duration?, size: Int64?)
  }

  /// The record as it was when the attempt started.
  let download: DownloadRecord
  var failure: DownloadFailure
  /// The wait that the server asked for.
  var retryAfter: Duration?
  /// The head of the last response.
  var head: ResponseHead?
  var resumeData = ResumeDataChange.none
  var bytes = Bytes.keep
  /// The size of the file; `nil` for that of the last response.
  var size: Int64?
  /// Whether the bytes were copied from a finished file that does not have them.
  var refusesCopy = false
  /// The digest that the file does not have, if that is the failure.
  var comparedDigest: String?

  /// Creates the end of an attempt of a download.
  init(
    of download: DownloadRecord,
    _ failure: DownloadFailure,
    retryAfter: Duration? = nil,
    head: ResponseHead? = nil,
    resumeData: ResumeDataChange = .none,
    bytes: Bytes = .keep,
    size: Int64? = nil
  ) {
    self.download = download
    self.failure = failure
    self.retryAfter = retryAfter
    self.head = head
    self.resumeData = resumeData
    self.bytes = bytes
    self.size = size ?? head.flatMap { $0.contentRange?.total ?? $0.contentLength }
  }

  /// Creates the end of an attempt whose partial file could not be opened, or was not the examined one.
  init(of download: DownloadRecord, notOpening failure: PartialFile.Failure, size: Int64? = nil) {
    self.init(
      of: download,
      failure.asDownloadFailure,
      bytes: failure.interference == nil ? .keep : .restart(from: download.received),
      size: size
    )
  }

  var kind: Kind {
    if refusesCopy { return .refusesCopy }
    return switch failure.code {
    case .diskFull: .lacksDiskSpace
    case .outOfResources: .lacksResources
    default: .failed
    }
  }

  /// Changes the stored record.
  ///
  /// - Returns: What is committed; `nil` if the record was cancelled, removed, restarted or completed,
  ///   or requires another digest than the one that the file does not have: a late failure does not
  ///   undo that.
  func apply(to record: inout DownloadRecord, _ settings: Settings) throws -> Committed? {
    guard record.awaitsAttempt else { return nil }
    if let comparedDigest, record.digestRequired(since: comparedDigest) != nil { return nil }
    resumeData.apply(to: &record)
    let source = download.source
    switch kind {
    case .failed:
      let failure = failure.afterProgress(of: record)
      let attempt = DownloadRecord.FailedAttempt(
        failure,
        from: source,
        droppingBytes: bytes != .keep,
        marking: settings.hooks,
        named: settings.named,
        retryingAfter: { self.wait(after: failure, of: $0, settings) }
      )
      let wait = try record.apply(.attemptFailed(attempt), at: settings.moment).wait
      return Committed(record: record, failure: failure, wait: wait)
    case .lacksDiskSpace:
      // A record stores the size with its first bytes only.
      try record.apply(.attemptDeferred(noting: failure, from: source), at: settings.moment)
    case .lacksResources:
      try record.apply(.attemptDeferred(from: source), at: settings.moment)
    case .refusesCopy:
      record.rollBack(to: 0, at: settings.moment)
      try record.apply(.attemptDeferred(noting: failure, from: source), at: settings.moment)
    }
    return Committed(record: record, failure: failure)
  }

  /// Whether the end leaves the finished file of an earlier version only: a refresh has failed.
  ///
  /// - Parameters:
  ///   - stored: The record as stored.
  ///   - settings: What the commit needs to know besides the record.
  /// - Returns: Whether the record will be complete.
  /// - Throws: As ``apply(to:_:)``.
  func endsRefresh(of stored: DownloadRecord, _ settings: Settings) throws -> Bool {
    var record = stored
    return try apply(to: &record, settings)?.record.state == .completed
  }

  private func wait(
    after failure: DownloadFailure,
    of record: DownloadRecord,
    _ settings: Settings
  ) -> Duration? {
    if case .restart = bytes, settings.retry.allowsAttempt(afterFailures: record.failedAttempts) {
      return .zero
    }
    return SourceRotation.wait(
      after: failure,
      of: record,
      settings.retry,
      retryAfter: retryAfter,
      random: settings.random
    )
  }

  /// Decides what the engine does after the commit, in order.
  func effects(after committed: Committed) -> [Effect] {
    let record = committed.record
    switch kind {
    case .failed: return failureEffects(after: committed)
    case .lacksDiskSpace:
      return [.reportFullDisk] + (record.mayStart ? [.enqueue(after: nil, size: size)] : [])
    case .lacksResources:
      return record.mayStart ? [.reportShortage, .enqueue(after: nil, size: nil)] : [.release]
    case .refusesCopy:
      let lost: [Effect] = if case .restart(let count) = bytes { [.reportLoss(count)] } else { [] }
      return [.removePartial] + lost
        + [record.mayStart ? .enqueue(after: nil, size: nil) : .release]
    }
  }

  private func failureEffects(after committed: Committed) -> [Effect] {
    var effects: [Effect] = []
    // A file of which no byte counts would only use disk space.
    if bytes != .keep { effects.append(.removePartial) }
    var restarts = false
    if case .restart(let count) = bytes {
      effects.append(.reportLoss(count))
      restarts = true
    }
    if committed.record.state == .paused { return effects + [.reportPause] }
    guard let wait = committed.wait else { return effects + [.reportFailure] }
    // The loss has reported a restart.
    if !restarts || wait > .zero { effects.append(.reportRetry(wait: wait)) }
    return effects + [.enqueue(after: wait, size: nil)]
  }
}
