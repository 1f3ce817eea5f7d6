#if Server
  internal import DownloadStore
  internal import Hummingbird

  /// The page, the API and the metrics of a store.
  public struct DownloadServer: Sendable {
    let store: RecordStore
  }
#endif
