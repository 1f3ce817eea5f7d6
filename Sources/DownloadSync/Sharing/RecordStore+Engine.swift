public import DownloadStore

extension RecordStore {
  /// Whether an engine runs on the store, in any process.
  ///
  /// A killed engine commits nothing, so the records of its downloads still say `running`. Without an
  /// engine they wait for the next one. The engine of ``SharedDownloads`` counts, too.
  ///
  /// ```swift
  /// let isRunning = record.state == .running && store.hasEngine
  /// ```
  ///
  /// Opens one file and asks for its lock. The answer may be outdated when it is returned, and nothing
  /// tells of a change: ask again about once a second.
  public var hasEngine: Bool { EngineLock.holder(storePath: path) != nil }
}
