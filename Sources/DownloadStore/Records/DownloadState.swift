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

  /// The words for the states in output and filters, in the order in which a download passes through
  /// them.
  ///
  /// They are derived from the stored state and never stored.
  package static let words = [
    "waiting", "running", "retrying", "paused", "failed", "finalizing", "completed", "cancelled",
  ]

  /// Returns the word for the state in output and filters.
  ///
  /// - Parameter engineRuns: Whether an engine runs on the store. Without one there is no transfer: a
  ///   download whose engine has ended without a last commit waits for the next engine.
  /// - Returns: One of ``words``, or the stored word of a removed download.
  package func word(engineRuns: Bool) -> String {
    switch self {
    case .running where !engineRuns: Self.waiting.rawValue
    case .failedRetryable: "retrying"
    case .failedPermanent: "failed"
    default: rawValue
    }
  }

  /// Returns the word with the reason for which it is not the stored one, for people.
  package func text(engineRuns: Bool) -> String {
    let word = word(engineRuns: engineRuns)
    return self == .running && !engineRuns ? "\(word) (its engine has ended)" : word
  }

  /// Returns the states with a word; empty for an unknown one.
  package static func states(named word: String, engineRuns: Bool) -> [DownloadState] {
    allCases.filter { $0.word(engineRuns: engineRuns) == word && $0 != .removed }
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
