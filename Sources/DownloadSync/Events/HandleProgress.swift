internal import DownloadStore

/// Follows one download: the current progress, then each change, until the download's end.
struct HandleProgress: ProgressSource {
  private let handle: DownloadHandle
  private let interval: Duration
  private let ends: EventSubscription
  /// The record to follow; `nil` if there is none.
  private let recordID: String?
  private var last: DownloadProgress?
  private var hasEnded = false

  init(handle: DownloadHandle, interval: Duration) {
    self.handle = handle
    self.interval = interval
    let recordID = handle.currentRecordID
    self.recordID = recordID
    ends = handle.engine.hub.subscribe(to: handle.interest(recordID), capacity: 8)
  }

  /// Returns the current progress at the first call, and then waits for a change; `nil` at the
  /// end.
  mutating func next(
    isolation actor: isolated (any Actor)?
  ) async -> DownloadProgress? {
    while !hasEnded {
      if last != nil {
        // Returns early for an end.
        await ends.consumer.waitForEnd(atMost: interval)
      }
      guard !Task.isCancelled else { return nil }
      // Read before the progress, so that the progress is at least as new as the end.
      hasEnded = ends.consumer.takeEnd()
      guard let recordID,
        let progress = try? await handle.engine.currentProgress(ofRecord: recordID)
      else {
        hasEnded = true
        return nil
      }
      if progress.isEnd { hasEnded = true }
      // The transfer has ended, but its last bytes are not committed yet. The stored progress
      // would appear to go backwards.
      if last?.isLive == true, !progress.isLive, progress.state.isDownloading, !hasEnded {
        continue
      }
      guard progress != last || hasEnded else { continue }
      last = progress
      return progress
    }
    return nil
  }
}
