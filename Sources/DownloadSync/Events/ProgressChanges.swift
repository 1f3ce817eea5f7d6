internal import DownloadStore

/// How far a download is, as often as its consumer wants to know.
///
/// Ends after the element of the download's end; also when the engine's run ends, when the store does not
/// know the record any more or cannot be read, and when the task is cancelled. Each iterator follows
/// by itself; between two elements nothing is kept for it.
public struct ProgressChanges: AsyncSequence, Sendable {
  /// How far the download is.
  public typealias Element = DownloadProgress
  /// Nothing fails.
  public typealias Failure = Never

  let handle: DownloadHandle
  let interval: Duration

  /// Begins to follow.
  public func makeAsyncIterator() -> Iterator {
    Iterator(handle: handle, interval: interval)
  }

  /// Follows one download.
  public struct Iterator: AsyncIteratorProtocol {
    private let handle: DownloadHandle
    private let interval: Duration
    private let ends: EventSubscription
    /// `nil` when there is no record to follow.
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

    /// The progress, once it is another one; `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> DownloadProgress? {
      while !hasEnded {
        if last != nil {
          // An end is told at once.
          await ends.consumer.waitForEnd(atMost: interval)
        }
        guard !Task.isCancelled else { return nil }
        // Asked before the progress, which then has what the end has brought.
        hasEnded = ends.consumer.takeEnd()
        guard let recordID,
          let progress = try? await handle.engine.progress(ofRecord: recordID)
        else {
          hasEnded = true
          return nil
        }
        if progress.isEnd { hasEnded = true }
        // The transfer has ended and the store does not say so yet: it would look like a step back.
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
