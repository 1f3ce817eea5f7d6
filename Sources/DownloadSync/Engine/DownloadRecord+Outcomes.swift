internal import DownloadStore

extension DownloadRecord {
  /// The URL that the next attempt asks.
  package var source: String { SourceRotation(of: self).next }
}

extension DownloadFailure {
  /// The failure as it is to be told of a download with bytes on disk: a server that refuses what it
  /// gave before has a link that expired.
  func afterProgress(of record: DownloadRecord) -> Self {
    guard code == .refused, record.received > 0 else { return self }
    return Self(
      .needsURL,
      "\(message); it was given before, so the link may have expired: a new one goes on after "
        + "\(record.received) bytes"
    )
  }
}
