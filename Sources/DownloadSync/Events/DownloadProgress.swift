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
  /// The received ranges of the file, in ascending order.
  ///
  /// One range from zero, unless the file is downloaded over several connections. Their lengths add
  /// up to ``received``.
  public var ranges: [Range<Int64>]
  /// The number of connections that the download has; zero if it is not running.
  public var connections: Int

  /// Creates progress.
  package init(
    recordID: String,
    url: String,
    filename: String,
    state: DownloadState,
    received: Int64,
    expected: Int64? = nil,
    bytesPerSecond: Double? = nil,
    isLive: Bool = true,
    ranges: [Range<Int64>]? = nil,
    connections: Int = 0
  ) {
    self.recordID = recordID
    self.url = url
    self.filename = filename
    self.state = state
    self.received = received
    self.expected = expected
    self.bytesPerSecond = bytesPerSecond
    self.isLive = isLive
    self.ranges = ranges ?? ByteRanges(upTo: received).ranges
    self.connections = connections
  }

  /// Whether the received bytes are not exactly the first ones of the file.
  package var hasGaps: Bool { ranges != ByteRanges(upTo: received).ranges }

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
