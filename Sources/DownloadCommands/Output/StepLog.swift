internal import DownloadStore
internal import Logging

/// A log handler that passes each message on as one line, for `--verbose`.
///
/// Secrets in URLs are redacted.
struct StepLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.debug
  private let write: @Sendable (String) -> Void

  init(write: @escaping @Sendable (String) -> Void) {
    self.write = write
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    // The record first, because it names the download.
    let names = all.keys.sorted { $0 == "record" || ($1 != "record" && $0 < $1) }
    let words = names.map { name in "\(name)=\(all[name].map { "\($0)" } ?? "")" }
    write(Redaction.text((["\(event.message):"] + words).joined(separator: " ")))
  }
}
