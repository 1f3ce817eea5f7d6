/// The condition that ends a run.
public enum RunGoal: Sendable, Hashable {
  /// The run ends when ``DownloadEngine/stop()`` is called or its task is cancelled.
  case stopped
  /// The run also ends when nothing is left to do.
  ///
  /// All downloads are then complete, failed permanently, paused or held, or they wait for free
  /// space on a full disk; see ``DownloadEngine/run(until:)``.
  case idle
}

/// The results of a run.
public struct RunSummary: Sendable, Hashable {
  /// The number of downloads that were completed.
  public var completed = 0
  /// The number of downloads that failed permanently.
  public var failed = 0

  /// Creates a summary.
  package init(completed: Int = 0, failed: Int = 0) {
    self.completed = completed
    self.failed = failed
  }
}
