internal import CommandLineSupport
internal import DownloadStore
internal import ObjectStore

extension StoreLocation {
  /// Opens the store for reading without its models: any ObjectStore folder.
  ///
  /// - Throws: ``StoreError``.
  func openedWithoutModels(_ option: ImmutableOption) throws -> Store {
    let options = StoreOptions(access: .readOnly, immutable: option.immutable)
    return try Store(at: resolved(), models: [], options: options)
  }

  /// Opens a store of downloads for reading.
  ///
  /// - Throws: ``StoreError``.
  func openedForReading(_ option: ImmutableOption) throws -> RecordStore {
    try RecordStore(at: resolved(), access: .readOnly, immutable: option.immutable)
  }
}
