/// What somebody wants of downloads.
///
/// A wish is written into the record, by any process; an engine carries out what needs one. Each may
/// be expressed at any time, in any state and more than once.
public enum DownloadCommand: Sendable, Hashable {
  /// Stand still, and keep what there is.
  case pause
  /// Go on with what there is, its failures forgotten.
  ///
  /// With `immediately` it starts before all others, and where no slot is free the oldest transfer makes
  /// room: that one then waits until somebody resumes it.
  case resume(immediately: Bool)
  /// Give it up: what is downloaded goes, the record stays.
  case cancel
  /// Begin from nothing.
  ///
  /// A finished file that is ours stays until the new one takes its place.
  case restart
  /// Forget it: what is downloaded and the record go, and with `withFile` the finished file, if it
  /// is provably ours.
  case remove(withFile: Bool)

  /// The states in which the wish can change something.
  public var states: [DownloadState] {
    switch self {
    case .pause: [.waiting, .running, .failedRetryable, .finalizing, .paused]
    case .resume, .cancel:
      [.waiting, .running, .failedRetryable, .finalizing, .paused, .failedPermanent]
    case .restart: DownloadState.allCases.filter { $0 != .removed }
    case .remove: DownloadState.allCases
    }
  }
}
