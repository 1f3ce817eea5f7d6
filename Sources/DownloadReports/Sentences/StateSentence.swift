internal import DownloadStore
internal import ProgramOutput

/// What a download waits for, or why it has failed, for people.
package enum StateSentence {
  /// Returns the sentence, without a full stop; `nil` if the state says everything.
  ///
  /// - Parameter entry: The download.
  /// - Returns: The text; secrets in it are redacted.
  package static func text(of entry: DownloadEntry) -> String? {
    let record = entry.record
    let turn = QueuePositionText.text(of: record, revealsSecrets: false)
    switch record.state {
    case .failedPermanent:
      return record.attempts.last.map { FailureSentence.text($0.failure, record) }
    case .failedRetryable:
      let reason = record.attempts.last.map { FailureSentence.reason($0.failure, record) }
      return [
        reason, FailureSentence.advice(beforeRetryOf: record), turn.map { "tried again \($0)" },
      ]
      .compactMap(\.self).joined(separator: "; ")
    case .completed:
      guard let failure = record.refreshFailure else { return nil }
      return "the last refresh failed: \(FailureSentence.reason(failure, record))"
    case .waiting, .running, .paused, .finalizing, .cancelled, .removed: return turn
    }
  }
}
