internal import DownloadStore
internal import Foundation

/// The settings that decisions depend on.
package struct ReconcilePolicy: Sendable, Hashable {
  /// Whether the transport accepts resume data, as a ``BackgroundTransport`` does.
  package var takesResumeData: Bool
  /// Whether to continue bytes on disk that neither a validator nor a digest protects.
  ///
  /// If the server's file has changed in the meantime, the result may be a mixture of both
  /// versions.
  package var continuesUnvalidated: Bool
  /// The longest wait before a retry; `nil` for no limit.
  ///
  /// A retry date that is further away was stored before the system clock was set back, and is due.
  package var longestWait: Duration?
  /// Whether every retry is due, whatever its date says.
  ///
  /// The engine sets this when a record leaves its queue. The queue has timed the wait with the
  /// monotonic clock, which changes of the system clock do not affect.
  var retriesAreDue = false

  /// Creates a policy.
  ///
  /// The default is for a transport without resume data, and continues only what can be validated.
  package init(
    takesResumeData: Bool = false,
    continuesUnvalidated: Bool = false,
    longestWait: Duration? = nil
  ) {
    self.takesResumeData = takesResumeData
    self.continuesUnvalidated = continuesUnvalidated
    self.longestWait = longestWait
  }

  /// Whether the next retry of a record is due.
  func isRetryDue(of record: DownloadRecord, at now: Date) -> Bool {
    if retriesAreDue { return true }
    guard let wait = record.nextRetryAt?.timeIntervalSince(now), wait > 0 else { return true }
    return longestWait.map { wait > $0 / .seconds(1) } ?? false
  }
}
