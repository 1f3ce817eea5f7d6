internal import DownloadStore
internal import DownloadSync

/// Says when a download will start.
enum QueuePositionText {
  /// The sentence; `nil` if ``NextStep`` already says it.
  static func text(of record: DownloadRecord, revealsSecrets: Bool) -> String? {
    func shown(_ url: String) -> String { revealsSecrets ? url : Redaction.url(url) }
    switch record.state {
    case .waiting where record.isHeld:
      return "held: `resume --now` of another download stopped it; resume it to continue"
    case .waiting where record.startsImmediately:
      return "immediately, before all others; stops a running download if no slot is free"
    case .waiting where record.attempts.last?.failure.code == .diskFull:
      return "when the disk has free space"
    case .failedRetryable:
      let time = record.nextRetryAt.map { "not before \(Timestamp.text($0))" } ?? "immediately"
      return "\(time), from \(shown(record.source))"
    case .failedPermanent where record.attempts.last?.failure.code == .needsURL:
      return "when `dlstore set --url` gives it a new link; resumes after \(record.received) bytes"
    case .waiting where record.source != record.url:
      return "from \(shown(record.source))"
    case .waiting, .running, .paused, .failedPermanent, .finalizing, .completed, .cancelled,
      .removed:
      return nil
    }
  }
}
