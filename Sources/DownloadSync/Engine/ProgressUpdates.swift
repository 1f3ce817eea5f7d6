/// The progress of an engine's active downloads, at regular intervals until its run ends.
///
/// Each element is computed when it is requested, so a slow consumer never slows a download.
///
/// ```swift
/// for await downloads in engine.progress(every: .seconds(1)) {
///   for download in downloads { print(download.filename, download.received) }
/// }
/// ```
public struct ProgressUpdates: AsyncSequence, Sendable {
  /// The active downloads at one moment, in the order of their arrival in the queue.
  public typealias Element = [DownloadProgress]
  /// The sequence never throws.
  public typealias Failure = Never

  let engine: DownloadEngine
  let interval: Duration

  /// Creates an iterator, whose first element is available immediately.
  public func makeAsyncIterator() -> Iterator {
    Iterator(engine: engine, interval: interval)
  }

  /// An iterator over the progress of one engine.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let engine: DownloadEngine
    fileprivate let interval: Duration
    private var next: ContinuousClock.Instant?

    fileprivate init(engine: DownloadEngine, interval: Duration) {
      self.engine = engine
      self.interval = interval
    }

    /// Waits until the interval has passed, and returns the progress.
    ///
    /// The first call returns immediately. Returns `nil` when the run has ended or the task is
    /// cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> [DownloadProgress]? {
      if let next {
        // A cancelled sleep ends the sequence.
        do { try await Task.sleep(until: next) } catch { return nil }
      }
      next = .now.advanced(by: interval)
      return await engine.hasEnded ? nil : engine.progress()
    }
  }
}

extension DownloadEngine {
  /// Returns the progress of the active downloads at regular intervals, until the run ends.
  ///
  /// - Parameter interval: The time between two elements.
  /// - Returns: A sequence that computes each element when it is requested.
  public nonisolated func progress(every interval: Duration) -> ProgressUpdates {
    ProgressUpdates(engine: self, interval: interval)
  }
}
