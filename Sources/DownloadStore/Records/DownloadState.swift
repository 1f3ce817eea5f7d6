public import ObjectStore

/// How far a download is.
///
/// What is only on its way somewhere is never stored.
public enum DownloadState: String, Sendable, Hashable, CaseIterable, FieldValue {
  /// Runs when its turn comes.
  case waiting
  /// A transfer is under way.
  case running
  /// Stands still because somebody wanted it so.
  case paused
  /// Failed, and is tried again.
  case failedRetryable
  /// Failed, and is not tried again by itself.
  case failedPermanent
  /// The file is complete and about to get its name.
  case finalizing
  /// The file is complete under its name.
  case completed
  /// Given up by somebody; the record is kept.
  case cancelled
  /// To be forgotten as soon as nothing of it is left.
  case removed

  /// The states that an engine has to look at when it starts.
  public static let active: [DownloadState] = [
    .waiting, .running, .failedRetryable, .finalizing, .removed,
  ]

  /// Whether a transfer is under way, or has brought every byte and the file is getting its name.
  public var isDownloading: Bool { self == .running || self == .finalizing }

  /// The word for the state in outputs and filters: both kinds of failure are `failed`.
  public var word: String {
    switch self {
    case .failedRetryable, .failedPermanent: "failed"
    default: rawValue
    }
  }

  /// The words of all states that are ever shown, in the order of a download's life.
  public static let words = [
    "waiting", "running", "paused", "failed", "finalizing", "completed", "cancelled",
  ]

  /// The states that a word stands for; none when it is no such word.
  public static func states(named word: String) -> [DownloadState] {
    allCases.filter { $0.word == word && $0 != .removed }
  }
}

/// What the owner of a download wants.
///
/// Written by anybody, carried out by the engine.
public enum DownloadIntent: String, Sendable, Hashable, CaseIterable, FieldValue {
  /// Download it.
  case run
  /// Leave it as it is, with what there is.
  case hold
  /// Delete what there is, and keep the record.
  case keep
  /// Delete what there is, and the record.
  case discard
}
