internal import DownloadStore
internal import Foundation

/// The downloads of another engine as events and progress, from the records that it commits.
///
/// The first records produce an event for each download that is running or has ended, unless it was known
/// to be so.
///
/// Pure.
struct FollowedRecords: Sendable {
  private var last: [StoredText: DownloadRecord] = [:]
  private var meters: [StoredText: SpeedMeter] = [:]

  /// Begins with the records that are known.
  init(after known: [DownloadRecord] = []) {
    last = Dictionary(known.map { (StoredText($0.url), $0) }) { $1 }
  }

  /// Notes the current records.
  ///
  /// - Returns: The events since the last call. Those between two commits that were read are missing.
  mutating func note(
    _ records: [DownloadRecord],
    now: Date,
    at instant: SuspendingClock.Instant
  ) -> [DownloadEvent] {
    let events = records.compactMap { event(of: $0, now: now) }
    last = Dictionary(records.map { (StoredText($0.url), $0) }) { $1 }
    var running: [StoredText: SpeedMeter] = [:]
    for record in records where record.state == .running {
      let url = StoredText(record.url)
      var meter = meters[url] ?? SpeedMeter()
      meter.note(record.received, at: instant)
      running[url] = meter
    }
    meters = running
    return events
  }

  /// The progress of the running downloads, in the order of their URLs.
  func progress(at instant: SuspendingClock.Instant) -> [DownloadProgress] {
    let running = last.filter { $0.value.state == .running }.sorted { $0.key < $1.key }
    return running.map { url, record in
      DownloadProgress(
        recordID: record.id,
        url: record.url,
        filename: record.filename,
        state: .running,
        received: record.received,
        expected: record.expected,
        bytesPerSecond: meters[url]?.bytesPerSecond(at: instant),
        isLive: false,
        ranges: record.committed.ranges
      )
    }
  }

  /// The event of a complete download: its first or a newer version is complete, or the end of a refresh.
  private static func end(
    of record: DownloadRecord,
    after previous: DownloadRecord?
  ) -> DownloadEvent {
    guard let previous, previous.earlierVersion != nil else { return .completed(record) }
    if record.hasCancelledRefresh(since: previous) { return .released(url: record.url) }
    if let failure = record.refreshFailure { return .failed(record, failure) }
    return record.checkedAt == nil ? .completed(record) : .unchanged(record)
  }

  private func event(of record: DownloadRecord, now: Date) -> DownloadEvent? {
    let previous = last[StoredText(record.url)]
    let isNew = previous?.state != record.state
    let failure = record.attempts.last?.failure
    switch record.state {
    case .running: return isNew ? .started(record, offset: record.received) : nil
    case .completed: return isNew ? Self.end(of: record, after: previous) : nil
    case .failedPermanent:
      guard isNew, let failure else { return nil }
      return .failed(record, failure)
    case .failedRetryable:
      guard isNew || previous?.failedAttempts != record.failedAttempts, let failure else {
        return nil
      }
      let wait = max(0, record.nextRetryAt?.timeIntervalSince(now) ?? 0)
      return .retrying(record, failure, wait: .seconds(wait))
    case .paused, .cancelled, .removed:
      return previous != nil && isNew ? .released(url: record.url) : nil
    case .waiting, .finalizing: return nil
    }
  }
}
