internal import DownloadStore
internal import DownloadSync

/// An engine event as one line of text.
enum EventLine {
  /// The line; `nil` for an event that is not printed.
  static func text(for event: DownloadEvent) -> String? {
    switch event {
    case .started(let record, let offset):
      offset > 0
        ? "started \(record.filename) from byte \(offset)"
        : "started \(record.filename) (\(Redaction.url(record.url)))"
    case .rolledBack(let url, let bytes):
      bytes > 0 ? "starting over \(Redaction.url(url)): \(bytes) bytes were dropped" : nil
    case .completed(let record):
      "completed \(record.filename) (\(ByteAmount.text(record.received)))"
    case .retrying(let record, let failure, let wait):
      "retrying \(record.filename) in \(TimeSpan.text(wait / .seconds(1))): "
        + reason(failure, record)
    case .failed(let record, let failure):
      "failed \(record.filename): \(reason(failure, record))"
    case .waitingForDiskSpace(let record):
      "the disk is full: \(record.filename) waits for free space"
    case .released(let url):
      "released \(Redaction.url(url))"
    case .interceptorFailed(let url, let failure):
      "interceptor \(failure.interceptor) failed for \(Redaction.url(url)): \(failure.message)"
    case .missed(let count):
      "\(count) messages were dropped"
    }
  }

  private static func reason(_ failure: DownloadFailure, _ record: DownloadRecord) -> String {
    let message = ([record.url] + record.mirrors).reduce(failure.message) {
      $0.replacing($1, with: Redaction.url($1))
    }
    return "\(failure.code.rawValue), \(message)"
  }
}
