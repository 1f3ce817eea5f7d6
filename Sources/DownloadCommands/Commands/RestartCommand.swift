internal import ArgumentParser
internal import DownloadStore

/// `dlstore restart`: begins downloads from nothing.
struct RestartCommand: WishCommand {
  static let configuration = CommandConfiguration(
    commandName: "restart",
    abstract: "Begins downloads from nothing, complete ones too.",
    discussion: """
      A finished file stays until the new one takes its place.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  var wish: Wish { .restart }
  var verb: String { "restarted" }
}
