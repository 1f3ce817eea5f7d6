internal import DownloadReports
internal import DownloadStore

extension ListSpeeds {
  /// Returns the totals of the list.
  func summary(of entries: [DownloadEntry]) -> ProgressSummary {
    var summary = ProgressSummary(remainingBytes: 0)
    for entry in entries {
      let record = entry.record
      switch record.state {
      case .completed: summary.completed += 1
      case .failedPermanent: summary.failed += 1
      case .waiting, .running, .failedRetryable, .finalizing:
        summary.add(
          ProgressEstimate(
            received: record.received,
            expected: record.expected,
            bytesPerSecond: values[record.id]
          )
        )
      case .paused, .cancelled, .removed: break
      }
    }
    return summary
  }
}
