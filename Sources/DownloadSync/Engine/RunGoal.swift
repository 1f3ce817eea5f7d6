/// When a run ends by itself.
public enum RunGoal: Sendable, Hashable {
  /// When somebody stops it.
  case stopped
  /// When nothing is left to do: all is complete, failed for good, or stands still.
  case idle
}

/// What a run has done.
public struct RunSummary: Sendable, Hashable {
  /// The downloads that became complete.
  public var completed = 0
  /// The downloads that failed for good.
  public var failed = 0

  /// Counts what a run has done.
  public init(completed: Int = 0, failed: Int = 0) {
    self.completed = completed
    self.failed = failed
  }
}
