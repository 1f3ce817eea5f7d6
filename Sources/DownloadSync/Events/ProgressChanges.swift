internal import DownloadStore

/// The progress of one download as a sequence.
///
/// The first element is the current progress; each further one is a change. The last element is
/// that of the download's end: the download was completed, failed permanently, or was released by
/// the engine, for example because the user paused it (``DownloadEvent/isEnd``). The sequence also
/// ends with the engine's run, when the record was deleted, when the store cannot be read, and when
/// the reading task is cancelled.
///
/// Each iterator follows the download independently. Changes between two calls are combined, so a
/// slow consumer costs nothing and always gets the latest progress.
public struct ProgressChanges: AsyncSequence, Sendable {
  /// The progress of the download.
  public typealias Element = DownloadProgress
  /// The sequence does not fail.
  public typealias Failure = Never

  let handle: DownloadHandle
  let interval: Duration

  /// Starts following the download.
  public func makeAsyncIterator() -> Iterator {
    Iterator(handle: handle, interval: interval)
  }

  /// Follows one download.
  public struct Iterator: AsyncIteratorProtocol {
    private let handle: DownloadHandle
    private let interval: Duration
    private let ends: EventSubscription
    /// The record to follow; `nil` if there is none.
    private let recordID: String?
    private var last: DownloadProgress?
    private var hasEnded = false

    fileprivate init(handle: DownloadHandle, interval: Duration) {
      self.handle = handle
      self.interval = interval
      let recordID = handle.currentRecordID
      self.recordID = recordID
      ends = handle.engine.hub.subscribe(to: handle.interest(recordID), capacity: 8)
    }

    /// Returns the current progress at the first call, and then waits for a change; `nil` at the
    /// end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
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
          let progress = try? await handle.engine.progress(ofRecord: recordID)
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
}
