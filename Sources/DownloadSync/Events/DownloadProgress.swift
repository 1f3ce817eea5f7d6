public import DownloadStore

/// How far one download is at this moment.
public struct DownloadProgress: Sendable, Hashable {
  /// The record's id, which stays when the URL is replaced.
  public var recordID: String
  /// The record's URL.
  public var url: String
  /// The name of the file.
  public var filename: String
  /// How far the record is.
  public var state: DownloadState
  /// The bytes that have arrived, synced or not.
  public var received: Int64
  /// The size of the whole in bytes, if it is known.
  public var expected: Int64?
  /// How fast bytes arrive; `nil` until there is something to measure.
  ///
  /// What was there before the transfer does not count.
  public var bytesPerSecond: Double?
  /// Whether it runs now; else this is what was committed last.
  public var isLive: Bool

  /// Describes progress.
  public init(
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

  /// Whether nothing more happens by itself, so that this is the last word for now.
  var isEnd: Bool {
    switch state {
    case .completed, .failedPermanent, .cancelled, .removed: true
    case .waiting, .running, .paused, .failedRetryable, .finalizing: false
    }
  }

  /// The fraction and the time that is left.
  public var estimate: ProgressEstimate {
    ProgressEstimate(received: received, expected: expected, bytesPerSecond: bytesPerSecond)
  }
}
