package import DownloadStore
package import Foundation
internal import Testing

// The events of the state machine, as tests apply them. An event that the record does not accept is
// an issue, and leaves the record as it is.

extension DownloadRecord {
  /// Applies an event, and returns what it did; `nil` after an issue.
  @discardableResult
  package mutating func take(_ event: Event, at moment: Date? = nil) -> Outcome? {
    do {
      return try apply(event, at: moment ?? updatedAt)
    } catch {
      Issue.record("\(error)")
      return nil
    }
  }

  /// Applies a failed attempt, and returns the wait before the next one.
  @discardableResult
  package mutating func fail(
    _ failure: DownloadFailure,
    from source: String,
    at moment: Date,
    droppingBytes: Bool = false,
    marking hooks: Set<DownloadHook> = [],
    retryingAfter wait: @escaping @Sendable (DownloadRecord) -> Duration?
  ) -> Duration? {
    let attempt = FailedAttempt(
      failure,
      from: source,
      droppingBytes: droppingBytes,
      marking: hooks,
      retryingAfter: wait
    )
    return take(.attemptFailed(attempt), at: moment)?.wait
  }

  /// The record after a command, which has no time of its own.
  package func applying(_ command: DownloadCommand) -> Self {
    var record = self
    record.take(.command(command))
    return record
  }
}
