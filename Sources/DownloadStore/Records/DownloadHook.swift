public import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A command that is run, or a webhook that is called, for a kind of end of a download.
///
/// ``DownloadRecord/pendingHooks`` names those that have not succeeded yet. Each has its own mark,
/// which the success of another one leaves. Stored raw values never change.
///
/// ```swift
/// for record in try store.records(awaiting: .completion) {
///   try await publish(record)
///   try await store.finishHook(.completion, of: record)
/// }
/// ```
public enum DownloadHook: String, Sendable, Hashable, CaseIterable, FieldValue {
  /// The command for a download that is complete.
  case completion = "complete"
  /// The command for a download that failed permanently.
  case failure = "error"
  /// The webhook for a download that is complete.
  case completionWebhook = "complete-webhook"
  /// The webhook for a download that failed permanently.
  case failureWebhook = "error-webhook"
}

extension DownloadHook {
  /// The hooks of a download that is complete.
  package static let completions: Set<DownloadHook> = [.completion, .completionWebhook]
  /// The hooks of a download that failed permanently.
  package static let failures: Set<DownloadHook> = [.failure, .failureWebhook]

  /// The command for the same kind of end; its raw value names that kind: `complete` or `error`.
  package var command: DownloadHook { Self.completions.contains(self) ? .completion : .failure }

  /// Whether a webhook is called.
  package var isWebhook: Bool { self != command }
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
