public import DownloadStore

/// What an engine tells of its downloads.
///
/// A generation of a download ends in at most one of `completed`, `retrying`, `failed`,
/// `waitsForRoom` and `released`; in none when the engine is stopped.
public enum DownloadEvent: Sendable {
  /// A transfer begins at that byte.
  case started(DownloadRecord, offset: Int64)
  /// The bytes on disk were dropped: the download begins anew.
  case rolledBack(url: String, from: Int64)
  /// The file is complete, under its name and synced.
  case completed(DownloadRecord)
  /// The attempt failed, and another follows after the wait.
  case retrying(DownloadRecord, DownloadFailure, wait: Duration)
  /// The download failed for good.
  case failed(DownloadRecord, DownloadFailure)
  /// The disk is full: the download waits for room, and goes on by itself.
  case waitsForRoom(DownloadRecord)
  /// The record was removed, paused or cancelled by somebody, or made room for another one; its
  /// transfer ended.
  case released(url: String)
}

/// How far one download is at this moment.
public struct DownloadProgress: Sendable, Hashable {
  /// The record's URL.
  public var url: String
  /// The name of the file.
  public var filename: String
  /// The bytes that have arrived, synced or not.
  public var received: Int64
  /// The size of the whole in bytes, if it is known.
  public var expected: Int64?
}
