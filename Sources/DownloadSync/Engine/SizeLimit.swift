internal import DownloadStore

/// The size of the largest file that an engine downloads; see ``EngineOptions/maximumFileSize``.
struct SizeLimit: Sendable, Hashable {
  /// The size in bytes; `nil` for no limit.
  var maximum: Int64?

  /// Returns the failure of a file whose size a server has declared; `nil` if it is small enough, or
  /// its size is not known.
  func failure(ofFileOf size: Int64?) -> DownloadFailure? {
    guard let maximum, let size, size > maximum else { return nil }
    return DownloadFailure(
      .tooLarge,
      "the server's file has \(size) bytes, and at most \(maximum) are allowed"
    )
  }

  /// Returns the failure of a file that has bytes up to an offset; `nil` if it is small enough.
  func failure(ofBytesUpTo end: Int64) -> DownloadFailure? {
    guard let maximum, end > maximum else { return nil }
    return DownloadFailure(
      .tooLarge,
      "the server's file has more than the \(maximum) bytes that are allowed"
    )
  }
}
