internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// `dlstore compact`: returns the free pages of a store to the file system.
struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Returns the free pages of a store's file to the file system.",
    discussion: """
      Works on the folder of any ObjectStore, without its models. Replaces the file atomically by a \
      compact copy, for which the disk needs free space. No other process may have the store open: \
      the command is refused with exit code 75 while an engine runs, and with 1 while another \
      process has the store open. 'dlstore stats' shows the size of the free pages. 'add', 'import' \
      and 'purge' do this by themselves after a large change.

      EXAMPLES:
        dlstore compact
        dlstore --store /var/lib/notes compact
      """
  )

  @OptionGroup var location: StoreLocation

  func run() async throws {
    let path = try location.existing()
    try ClosedStore.refuseEngine(path)
    try StoreCopy.compact(path, command: SuggestedCommand.text("compact"))
  }
}
