/// How far the live downloads of an engine are, again and again until its run is over.
///
/// An element is made when it is asked for, so a slow reader slows nothing down.
public struct ProgressUpdates: AsyncSequence, Sendable {
  /// The downloads that are live at one moment, in the order of their turns.
  public typealias Element = [DownloadProgress]
  /// It ends, and never fails.
  public typealias Failure = Never

  let engine: DownloadEngine
  let interval: Duration

  /// Begins to look.
  public func makeAsyncIterator() -> Iterator {
    Iterator(engine: engine, interval: interval)
  }

  /// Looks at one engine.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let engine: DownloadEngine
    fileprivate let interval: Duration
    private var next: ContinuousClock.Instant?

    fileprivate init(engine: DownloadEngine, interval: Duration) {
      self.engine = engine
      self.interval = interval
    }

    /// Waits until the interval is over and looks; the first time at once.
    ///
    /// `nil` when the run is over or the task is cancelled.
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
  /// How far the live downloads are, at that interval, until the run is over.
  public nonisolated func progress(every interval: Duration) -> ProgressUpdates {
    ProgressUpdates(engine: self, interval: interval)
  }
}
