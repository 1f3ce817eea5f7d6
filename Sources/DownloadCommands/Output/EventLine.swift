internal import CommandLineSupport
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

  /// Whether `--quiet` prints the event: the download failed, or cannot continue by itself.
  static func isError(_ event: DownloadEvent) -> Bool {
    switch event {
    case .failed, .waitingForDiskSpace, .interceptorFailed: true
    case .started, .rolledBack, .completed, .retrying, .released, .missed: false
    }
  }

  /// Returns the line with its first word in the color of the outcome.
  static func colored(_ line: String, for event: DownloadEvent) -> String {
    let color: TerminalColor? =
      switch event {
      case .completed: .green
      case .failed, .waitingForDiskSpace, .interceptorFailed: .red
      case .retrying: .yellow
      case .started, .rolledBack, .released, .missed: nil
      }
    guard let color else { return line }
    let word = line.prefix { $0 != " " }
    return color.applied(to: String(word)) + line.dropFirst(word.count)
  }

  /// The code and message of a failure, with the download's own URLs redacted.
  private static func reason(_ failure: DownloadFailure, _ record: DownloadRecord) -> String {
    "\(failure.code.rawValue), \(message(failure, record))"
  }

  /// The message of a failure, with the download's own URLs redacted.
  static func message(_ failure: DownloadFailure, _ record: DownloadRecord) -> String {
    ([record.url] + record.mirrors).reduce(failure.message) {
      $0.replacing($1, with: Redaction.url($1))
    }
  }
}
