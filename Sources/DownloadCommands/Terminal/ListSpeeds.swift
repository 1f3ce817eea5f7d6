internal import DownloadStore

/// The speeds of running downloads, measured from the byte counts of a list.
struct ListSpeeds: Sendable {
  private var meters: [String: SpeedMeter] = [:]
  /// The speeds in bytes per second, by record id.
  private(set) var values: [String: Double] = [:]

  /// Whether a download was running at the last call of ``note(_:at:)``.
  var hasRunning: Bool { !meters.isEmpty }

  /// Adds the current byte counts.
  mutating func note(_ entries: [DownloadEntry], at now: SuspendingClock.Instant) {
    var running: [String: SpeedMeter] = [:]
    for entry in entries where entry.record.state == .running {
      var meter = meters[entry.record.id] ?? SpeedMeter()
      meter.note(entry.record.received, at: now)
      running[entry.record.id] = meter
    }
    meters = running
    values = running.compactMapValues { $0.bytesPerSecond(at: now) }
  }

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
