public import DownloadStore

/// The outcome of a task.
public enum TaskOutcome: Sendable, Hashable {
  /// The response is complete, as far as the protocol can show. Its status may be any: a 404 also
  /// ends with this outcome.
  case completed
  /// The task was cancelled, by ``Transport/cancel(_:)`` or by its sink.
  case cancelled
  /// The transfer failed.
  ///
  /// A transport reports what it alone can know: `timedOut`, `cannotConnect`, `cannotFindHost`,
  /// `connectionLost`, `insecure`, `badResponse`, `badRedirect`, `unsupportedURL`,
  /// `outOfResources`, or `unknown` for anything else. The other codes are conclusions of the
  /// engine, for example from a status or a file; it treats them as `unknown`.
  case failed(DownloadFailure)
}
