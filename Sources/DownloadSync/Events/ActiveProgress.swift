/// Reads the progress of the active downloads at regular intervals, until the run ends.
struct ActiveProgress: ProgressSource {
  private let engine: DownloadEngine
  private let interval: Duration
  private var next: ContinuousClock.Instant?

  init(engine: DownloadEngine, interval: Duration) {
    self.engine = engine
    self.interval = interval
  }

  /// Waits until the interval has passed, and returns the progress.
  ///
  /// The first call returns immediately. Returns `nil` when the run has ended or the task is
  /// cancelled.
  mutating func next(isolation actor: isolated (any Actor)?) async -> [DownloadProgress]? {
    if let next {
      // A cancelled sleep ends the sequence.
      do { try await Task.sleep(until: next) } catch { return nil }
    }
    next = .now.advanced(by: interval)
    return await engine.hasEnded ? nil : engine.currentProgress()
  }
}
