internal import DownloadStore
internal import Foundation

/// What decisions depend on besides what is found.
package struct ReconcilePolicy: Sendable, Hashable {
  /// Whether the transport takes resume data, as a ``BackgroundTransport`` does.
  package var takesResumeData: Bool
  /// Whether bytes are continued of which neither a validator nor a digest tells whether they still
  /// belong to the server's file.
  package var continuesUnvalidated: Bool
  /// The longest wait before a next try that there is, if there is one.
  ///
  /// A try that is further away was set before the clock was put back, and is due.
  package var longestWait: Duration?
  /// Whether every retry is due, whatever its date says.
  ///
  /// True for a record whose turn has come: the engine's queue has timed its wait by the monotonic
  /// clock, which nobody sets.
  var retriesAreDue = false

  /// States a policy; the usual one is that of a transport that moves bytes, and careful.
  package init(
    takesResumeData: Bool = false,
    continuesUnvalidated: Bool = false,
    longestWait: Duration? = nil
  ) {
    self.takesResumeData = takesResumeData
    self.continuesUnvalidated = continuesUnvalidated
    self.longestWait = longestWait
  }

  /// Whether the next try of a record is due.
  func isRetryDue(of record: DownloadRecord, at now: Date) -> Bool {
    if retriesAreDue { return true }
    guard let wait = record.nextRetryAt?.timeIntervalSince(now), wait > 0 else { return true }
    return longestWait.map { wait > $0 / .seconds(1) } ?? false
  }
}
