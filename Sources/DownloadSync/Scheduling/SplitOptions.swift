internal import DownloadStore

/// Whether a file is downloaded over several connections at once.
///
/// A file is split if the server has declared its size and either a strong entity tag or the
/// required digest shows that all ranges belong to the same version. Otherwise, and with a
/// ``BackgroundTransport``, it is downloaded over one connection.
///
/// ```swift
/// var options = EngineOptions()
/// options.split = SplitOptions(maximumConnections: 8)
/// ```
public struct SplitOptions: Sendable, Hashable {
  /// The number of connections that a download may have at a time, unless its request has a number
  /// of its own.
  ///
  /// The limits of concurrent downloads, in total and per host, also limit the connections.
  public var maximumConnections: Int
  /// The length in bytes below which a range is not split.
  public var minimumLength: Int64

  /// The shortest time for which the rate is measured before connections are added.
  package var measuringTime = Duration.milliseconds(100)
  /// The time after which a connection without progress is replaced, if another one has progress.
  package var stallTime = Duration.seconds(10)

  /// Creates options.
  ///
  /// - Parameters:
  ///   - maximumConnections: The number of connections that a download may have at a time; 1 to
  ///     split no file.
  ///   - minimumLength: The length in bytes below which a range is not split; 2 MiB by default.
  public init(maximumConnections: Int = 4, minimumLength: Int64 = 2 << 20) {
    self.maximumConnections = maximumConnections
    self.minimumLength = minimumLength
  }

  /// The number of connections that the download of a record may have.
  ///
  /// Several do not speed up what the user slows down.
  func maximumConnections(of record: DownloadRecord) -> Int {
    if record.bytesPerSecond != nil { return 1 }
    return record.connections.map { max(1, Int($0)) } ?? maximumConnections
  }
}
