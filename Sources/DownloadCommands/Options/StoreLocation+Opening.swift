internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

extension StoreLocation {
  /// Opens the store for reading without its models: any ObjectStore folder.
  ///
  /// - Throws: ``StoreError``.
  func openedWithoutModels() throws -> Store {
    try Store(at: resolved(), models: [], options: StoreOptions(access: .readOnly))
  }

  /// The absolute path of an existing store's folder.
  ///
  /// - Throws: ``StoreError`` with `notFound`, `permissionDenied` or `other`.
  func existing() throws -> String {
    let path = resolved()
    try StoreFolder.requireStore(at: path)
    return path
  }
}

extension ClosedStore {
  /// Throws if an engine runs on the store.
  ///
  /// - Throws: ``CommandFailure`` with `engineRuns`.
  static func refuseEngine(_ path: String) throws {
    guard let holder = EngineLock.holder(storePath: path) else { return }
    throw CommandFailure(.engineRuns, "an engine runs on \(path) (\(holder)): stop it first")
  }
}

extension Store {
  /// Whether this is a store of downloads.
  func hasDownloads() throws -> Bool {
    try storedModels().contains { $0.name == DownloadRecord.schema.name }
  }

  /// Throws if this is not a store of downloads.
  ///
  /// - Parameter reason: Why the command needs one.
  /// - Throws: ``CommandFailure`` with `usage`; ``StoreError``.
  func requireDownloads(_ reason: String) throws {
    guard try hasDownloads() else {
      throw CommandFailure(.usage, "\(path) is not a store of downloads: \(reason)")
    }
  }
}
