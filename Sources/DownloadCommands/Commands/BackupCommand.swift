internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import ObjectStore

/// `dlstore backup`: copies a store while other processes write.
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a store as of its last commit, while other processes write.",
    discussion: """
      Works on the folder of any ObjectStore, without its models. DEST is a new folder, which \
      appears once the copy is complete and synced; an existing file or folder is never changed. \
      Downloaded files are not copied. Write to only one of the two stores afterwards.

      EXAMPLES:
        dlstore backup /backup/downloads-2026-01-31
        dlstore backup --compact /backup/downloads
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption
  @OptionGroup var backup: BackupOptions

  func run() async throws {
    try backup.run(location.openedWithoutModels(reading))
  }
}
