internal import ArgumentParser
internal import DownloadStore

/// `dlstore restart`: restarts downloads from the first byte.
struct RestartCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "restart",
    abstract: "Restarts downloads from the first byte, completed ones too.",
    discussion: """
      A finished file stays in place until the new download replaces it.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  var command: DownloadCommand { .restart }
  var verb: String { "restarted" }
}
