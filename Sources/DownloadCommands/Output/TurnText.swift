internal import DownloadStore
internal import DownloadSync

/// When the turn of a download comes, in a sentence for people.
enum TurnText {
  /// The sentence; `nil` where the next step says it all.
  static func text(of record: DownloadRecord, revealsSecrets: Bool) -> String? {
    func shown(_ url: String) -> String { revealsSecrets ? url : Redaction.url(url) }
    switch record.state {
    case .waiting where record.isHeldByHand:
      return "it made room for another one: it waits until somebody resumes it"
    case .waiting where record.startsAtOnce:
      return "at once, before all others, in the place of one that runs if no slot is free"
    case .waiting where record.attempts.last?.failure.code == .diskFull:
      return "when there is room on the disk"
    case .failedRetryable:
      let time = record.nextRetryAt.map { "not before \(Timestamp.text($0))" } ?? "at once"
      return "\(time), from \(shown(record.source))"
    case .failedPermanent where record.attempts.last?.failure.code == .needsURL:
      return "'set --url' with a new link goes on after \(record.received) bytes"
    case .waiting where record.source != record.url:
      return "from \(shown(record.source))"
    case .waiting, .running, .paused, .failedPermanent, .finalizing, .completed, .cancelled,
      .removed:
      return nil
    }
  }
}
