public import ObjectStore

/// A kind of end of a download for which a command is run.
///
/// ``DownloadRecord/pendingHooks`` names the commands that are still to be run. Stored raw values
/// never change.
///
/// ```swift
/// for record in try store.records(awaiting: .completion) {
///   try await publish(record)
///   try await store.finishHook(.completion, of: record)
/// }
/// ```
public enum DownloadHook: String, Sendable, Hashable, CaseIterable, FieldValue {
  /// The download is complete.
  case completion = "complete"
  /// The download failed permanently.
  case failure = "error"
}
