public import ObjectStore

/// The state of a download.
///
/// ```swift
/// let halted: [DownloadState] = [.paused, .failedPermanent]
/// let records = try store.records(DownloadRecord.where { $0.state.isIn(halted) })
/// ```
public enum DownloadState: String, Sendable, Hashable, CaseIterable, FieldValue {
  /// Waits for a slot.
  case waiting
  /// A transfer is running.
  case running
  /// Paused by the user.
  case paused
  /// Failed, and will be retried.
  case failedRetryable
  /// Failed permanently.
  case failedPermanent
  /// The file is complete and about to be renamed.
  case finalizing
  /// The file is complete and has its name.
  case completed
  /// Cancelled by the user; the record is kept.
  case cancelled
  /// Removed by the user; the record is deleted once its files are.
  case removed

  /// The state's name in output and filters; both kinds of failure are `failed`.
  package var word: String {
    switch self {
    case .failedRetryable, .failedPermanent: "failed"
    default: rawValue
    }
  }

  /// The names of all visible states, in the order in which a download passes through them.
  package static let words = [
    "waiting", "running", "paused", "failed", "finalizing", "completed", "cancelled",
  ]

  /// The states with a name; empty for an unknown name.
  package static func states(named word: String) -> [DownloadState] {
    allCases.filter { $0.word == word && $0 != .removed }
  }
}

/// The user's intent for a download.
///
/// Any process may write it; the engine carries it out. The raw values are stored.
public enum DownloadIntent: String, Sendable, Hashable, CaseIterable, FieldValue {
  /// Download it.
  case run
  /// Pause it and keep the bytes on disk.
  case pause
  /// Cancel it: delete its partial file, keep the record.
  case cancel
  /// Remove it: delete its partial file and the record.
  case remove
}
