package import DownloadStore
internal import DownloadSync

extension RecordStore {
  /// Whether an engine runs on the store, in any process.
  ///
  /// Opens one file and asks for its lock. The answer may be outdated when it is returned.
  package var hasEngine: Bool { EngineLock.holder(storePath: path) != nil }
}
