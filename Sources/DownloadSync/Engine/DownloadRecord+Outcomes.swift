internal import DownloadStore

extension DownloadRecord {
  /// The URL that the next attempt requests.
  package var source: String { SourceRotation(of: self).next }
}

extension DownloadFailure {
  /// Returns the failure to report for a download with bytes on disk.
  ///
  /// If a server refuses a file of which it delivered bytes before, the link has probably expired.
  func afterProgress(of record: DownloadRecord) -> Self {
    guard code == .refused, record.received > 0 else { return self }
    return Self(
      .needsURL,
      "\(message); the server delivered it before, so the link may have expired: set a new URL to "
        + "continue after \(record.received) bytes"
    )
  }
}
