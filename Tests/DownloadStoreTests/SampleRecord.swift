import Foundation
import Testing

@testable import DownloadStore

extension DownloadRecord {
  /// Returns a record of 100 bytes in the given state, with values that a transition may clear.
  static func sample(
    _ state: DownloadState,
    _ intent: DownloadIntent,
    received: Int64 = 40
  ) -> DownloadRecord {
    DownloadRecord(
      url: "https://example.com/a",
      id: RecordIdentity.id(forURL: "https://example.com/a"),
      filename: "a",
      folder: "",
      root: RootName.standard,
      destination: "default/a",
      type: "",
      state: state,
      intent: intent,
      tags: ["t"],
      priority: 1,
      received: received,
      expected: 100,
      entityTag: "\"1\"",
      lastModified: "y",
      resumeData: Data([1]),
      mirrors: [],
      expectedDigest: nil,
      verifiedDigest: nil,
      createdAt: Date(timeIntervalSince1970: 1),
      updatedAt: Date(timeIntervalSince1970: 2)
    )
  }
}

// The events of the state machine, as tests apply them. An event that the record does not accept is an
// issue, and leaves the record as it is.

extension DownloadRecord {
  /// Applies an event, and returns what it did.
  @discardableResult
  mutating func take(_ event: Event, at moment: Date? = nil) -> Outcome {
    do {
      return try apply(event, at: moment ?? updatedAt)
    } catch {
      Issue.record("\(error)")
      return Outcome(hasChanged: false)
    }
  }

  /// Applies a failed attempt, and returns the wait before the next one.
  @discardableResult
  mutating func fail(
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
    return take(.attemptFailed(attempt), at: moment).wait
  }

  /// The record after a command, which has no time of its own.
  func applying(_ command: DownloadCommand) -> Self {
    var record = self
    record.take(.command(command))
    return record
  }
}
