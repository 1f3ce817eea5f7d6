internal import DownloadStore
internal import DownloadSync

/// A record with what lies on disk for it at this moment: what outputs are made of.
struct DownloadEntry: Sendable {
  /// What a later start can go on from.
  struct Resume: Sendable, Equatable {
    /// `range` for a partial file of ours, `blob` for resume data of Apple's.
    var kind: String
    /// The bytes that need not come again.
    var received: Int64
    /// What is sent to ask whether the entity is still the same.
    var validator: String?
  }

  let record: DownloadRecord
  /// `nil` when the store does not know the record's root.
  let layout: FileLayout?
  /// `nil` as the layout.
  let facts: FileFacts?

  init(_ record: DownloadRecord, _ roots: Roots) {
    self.record = record
    layout = try? roots.layout(of: record)
    facts = layout.map { FileFacts(of: record, in: $0) }
  }

  var displayURL: String { Redaction.url(record.url) }

  var fileStatus: FileStatus {
    // Of a file in a folder that nobody knows one can only say that it is not there.
    FileStatus(of: record, facts: facts ?? FileFacts(final: .missing, partial: .missing))
  }

  /// The finished file; `nil` until there is one, because its name is not certain before.
  var localPath: String? {
    guard record.state == .completed || facts?.final == .ours else { return nil }
    return layout?.finalPath
  }

  /// From zero to one, whatever the numbers in the record; `nil` while the size is unknown.
  var fraction: Double? {
    guard let expected = record.expected else { return nil }
    guard expected > 0 else { return 1 }
    return max(0, min(1, Double(record.received) / Double(expected)))
  }

  var resume: Resume? {
    guard record.state != .completed, record.state != .cancelled else { return nil }
    let validator = Validator(of: record)?.ifRange
    if record.resumeBlob != nil {
      return Resume(kind: "blob", received: record.received, validator: validator)
    }
    guard record.received > 0, validator != nil || record.expectedDigest != nil else { return nil }
    return Resume(kind: "range", received: record.received, validator: validator)
  }

  /// Why the download is not complete; `nil` when it is, or when nothing has failed yet.
  var lastAttempt: Attempt? {
    record.state == .completed ? nil : record.attempts.last
  }

  /// The message of an attempt with the download's own URLs redacted in it.
  func message(of attempt: Attempt, revealsSecrets: Bool = false) -> String {
    guard !revealsSecrets else { return attempt.failure.message }
    return ([record.url, attempt.url] + record.mirrors).reduce(attempt.failure.message) {
      $0.replacing($1, with: Redaction.url($1))
    }
  }
}
