public import DownloadStore

/// What an engine tells of its downloads.
///
/// A generation of a download ends in at most one of `completed`, `retrying`, `failed`,
/// `waitingForDiskSpace` and `released`; in none when the engine is stopped.
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
  case waitingForDiskSpace(DownloadRecord)
  /// The record was removed, paused or cancelled by somebody, or made room for another one; its
  /// transfer ended.
  case released(url: String)
  /// A response interceptor failed; the download is what it was.
  case interceptorFailed(url: String, InterceptorFailure)
  /// So many events were dropped, because this consumer did not take them in time.
  case missed(Int)

  /// The record's URL; `nil` when it is about no single download.
  public var url: String? {
    switch self {
    case .started(let record, _), .completed(let record), .retrying(let record, _, _),
      .failed(let record, _), .waitingForDiskSpace(let record):
      record.url
    case .rolledBack(let url, _), .released(let url), .interceptorFailed(let url, _): url
    case .missed: nil
    }
  }

  /// The record, where the event has it.
  var record: DownloadRecord? {
    switch self {
    case .started(let record, _), .completed(let record), .retrying(let record, _, _),
      .failed(let record, _), .waitingForDiskSpace(let record):
      record
    case .rolledBack, .released, .interceptorFailed, .missed: nil
    }
  }

  /// Whether nothing more happens to the download by itself.
  public var isEnd: Bool {
    switch self {
    case .completed, .failed, .released: true
    case .started, .rolledBack, .retrying, .waitingForDiskSpace, .interceptorFailed, .missed: false
    }
  }
}
