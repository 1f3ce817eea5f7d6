public import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

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

extension DownloadRecord {
  /// Names this end of the download: the same each time a hook runs for it, and never the same for
  /// another end.
  ///
  /// The id, the generation, and the time of the end in microseconds since 1970. A record that comes
  /// from an export or a backup has an earlier generation again; its next end has another time.
  package var endKey: String {
    let end = state == .completed ? completedAt : attempts.last?.at
    let microseconds = ((end?.timeIntervalSince1970 ?? 0) * 1_000_000).rounded()
    return "\(id)-\(generation)-\(Int64(exactly: microseconds) ?? 0)"
  }
}
