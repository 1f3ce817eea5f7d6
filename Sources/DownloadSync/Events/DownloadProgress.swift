public import DownloadStore

/// The progress of one download at one moment.
///
/// ```swift
/// for await progress in engine.progress(of: .download(handle)) {
///   print(progress.state, progress.received, progress.bytesPerSecond ?? 0)
/// }
/// ```
public struct DownloadProgress: Sendable, Hashable {
  /// The record's id, which does not change when the URL is replaced.
  public var recordID: String
  /// The record's URL.
  public var url: String
  /// The name of the file.
  public var filename: String
  /// The state of the download.
  public var state: DownloadState
  /// The number of bytes received: synced or not if ``isLive``, else as of the last commit.
  public var received: Int64
  /// The size of the whole file in bytes; `nil` if unknown.
  public var expected: Int64?
  /// The speed in bytes per second; `nil` before it can be measured.
  ///
  /// Bytes that were on disk before the transfer do not count.
  public var bytesPerSecond: Double?
  /// Whether the download is running; otherwise the values are those of the last commit.
  public var isLive: Bool

  /// Creates progress.
  package init(
    recordID: String,
    url: String,
    filename: String,
    state: DownloadState,
    received: Int64,
    expected: Int64? = nil,
    bytesPerSecond: Double? = nil,
    isLive: Bool = true
  ) {
    self.recordID = recordID
    self.url = url
    self.filename = filename
    self.state = state
    self.received = received
    self.expected = expected
    self.bytesPerSecond = bytesPerSecond
    self.isLive = isLive
  }

  /// Whether the download has ended: nothing more happens to it without a command.
  var isEnd: Bool {
    switch state {
    case .completed, .failedPermanent, .cancelled, .removed: true
    case .waiting, .running, .paused, .failedRetryable, .finalizing: false
    }
  }

  /// The fraction received and the remaining time.
  public var estimate: ProgressEstimate {
    ProgressEstimate(received: received, expected: expected, bytesPerSecond: bytesPerSecond)
  }
}
