internal import ArgumentParser
internal import DownloadStore

/// `dlstore pause`: pauses downloads.
struct PauseCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Pauses downloads; keeps the bytes already on disk.",
    discussion: """
      An engine running in any process stops their transfers immediately. Completed, cancelled and \
      permanently failed downloads are not changed. Prints one line per download. An unknown \
      download is reported, and the exit code is 1.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  var command: DownloadCommand { .pause }
  var verb: String { "paused" }
}
