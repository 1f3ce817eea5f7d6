internal import ArgumentParser
internal import DownloadStore
internal import ObjectStore

/// The option of commands that only read the store.
struct ImmutableOption: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Read the store without locks, because no process writes it meanwhile.",
      discussion:
        "Needed on a read-only file system. If a process does write the store, the output "
        + "may be wrong."
    )
  )
  var immutable = false
}

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
