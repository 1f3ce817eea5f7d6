package import ArgumentParser
package import ObjectStore

/// The arguments of a command that copies a store.
package struct BackupOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The folder to create.", valueName: "dest"), completion: .directory)
  package var destination: String

  @Flag(help: "Omit free pages, so that the copy is as small as possible.")
  package var compact = false

  @Flag(name: .shortAndLong, help: "Print errors only.")
  package var quiet = false

  package init() {}

  package func validate() throws {
    guard !destination.isEmpty else { throw ValidationError("DEST must not be empty.") }
  }

  /// Copies the store as of its last commit.
  ///
  /// - Throws: ``CommandFailure``; ``StoreError``.
  package func run(_ store: Store) throws {
    let report = try StoreCopy.backUp(
      store,
      to: Folder.absolutePath(destination),
      compacting: compact
    )
    if !quiet { try Output.current.report(report) }
  }
}
