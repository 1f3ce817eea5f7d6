internal import ArgumentParser
internal import DownloadStore

/// `dlstore pause`: has downloads stand still.
struct PauseCommand: WishCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Has downloads stand still, and keeps what is downloaded.",
    discussion: """
      An engine that runs, in whatever process, ends their transfers at once. What is complete, \
      cancelled or failed for good is left as it is. Prints a line a download; one that is not \
      known is reported, and the exit code is 1.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  var wish: Wish { .pause }
  var verb: String { "paused" }
}
