/// A command that the user gives to downloads.
///
/// Any process writes a command to the record as a new state or intent; the engine that runs the
/// transfers carries it out. A command may be given at any time, in any state and repeatedly.
/// `DownloadRecord.applying(_:)` defines its effect.
package enum DownloadCommand: Sendable, Hashable {
  /// Pauses the download; keeps the bytes on disk.
  case pause
  /// Resumes the download from the bytes on disk, and clears its failure count.
  ///
  /// With `immediately` it starts before all others. If no slot is free, it preempts the transfer
  /// that has run longest, which is then held until the user resumes it.
  case resume(immediately: Bool)
  /// Cancels the download: deletes the partial file, keeps the record.
  case cancel
  /// Restarts the download from the first byte.
  ///
  /// The finished file, if it is still the downloaded one, stays until the new one replaces it.
  case restart
  /// Removes the download: deletes the partial file and the record.
  ///
  /// With `withFile` it also deletes the finished file, if that is still the downloaded one.
  case remove(withFile: Bool)

  /// The states in which the command may have an effect.
  package var states: [DownloadState] {
    switch self {
    case .pause: [.waiting, .running, .failedRetryable, .finalizing, .paused]
    case .resume, .cancel:
      [.waiting, .running, .failedRetryable, .finalizing, .paused, .failedPermanent]
    case .restart: DownloadState.allCases.filter { $0 != .removed }
    case .remove: DownloadState.allCases
    }
  }
}
