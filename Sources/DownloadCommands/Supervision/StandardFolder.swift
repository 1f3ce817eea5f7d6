internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync

/// The folder of new downloads, which commands that run an engine can change.
enum StandardFolder {
  /// Changes the standard folder while holding the engine lock.
  ///
  /// An engine reads the roots at its creation, and they must not change while another engine runs.
  /// So the lock is taken here and again for the run.
  ///
  /// - Parameters:
  ///   - folder: The absolute path of an existing folder.
  ///   - store: The store.
  ///   - isQuiet: Whether to say nothing about downloads that stay in the previous folder.
  /// - Throws: ``EngineError``; `StoreError`.
  static func set(_ folder: String, of store: RecordStore, isQuiet: Bool) throws {
    let kept = try withExtendedLifetime(EngineLock(storePath: store.path, patience: .seconds(1))) {
      try store.setStandardFolder(folder)
    }
    guard kept.count > 0, !isQuiet else { return }
    Output.current.say(
      "\(kept.count) \(kept.count == 1 ? "download stays" : "downloads stay") in \(kept.path); new "
        + "ones go to \(folder)"
    )
  }
}
