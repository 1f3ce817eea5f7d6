internal import ArgumentParser
internal import CommandLineSupport
internal import ObjectStore

/// The folder of the store, the first argument of each command.
struct StoreArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The folder of the store.", valueName: "folder"),
    completion: .directory
  )
  var folder: String

  func validate() throws {
    guard !folder.isEmpty else { throw ValidationError("The folder must not be empty.") }
  }

  /// The absolute path of the folder.
  var path: String { Folder.absolutePath(folder) }

  /// The absolute path of the folder of an existing store.
  ///
  /// - Throws: ``StoreError`` with `notFound`, `permissionDenied` or `other`.
  func existing() throws -> String {
    try StoreFolder.requireStore(at: path)
    return path
  }

  /// Opens the store for reading.
  ///
  /// - Throws: ``StoreError``.
  func openedForReading(_ option: ImmutableOption? = nil) throws -> Store {
    let options = StoreOptions(access: .readOnly, immutable: option?.immutable ?? false)
    return try Store(at: try existing(), models: [], options: options)
  }
}
