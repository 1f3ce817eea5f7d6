internal import ArgumentParser
internal import DownloadStore

/// `dlstore cancel`: gives downloads up.
struct CancelCommand: WishCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Gives downloads up: deletes what is downloaded, and keeps the records.",
    discussion: """
      Finished files stay, and so does what is complete. An engine that runs does it, and is waited \
      for up to two seconds; without one it is done before the command ends.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  var wish: Wish { .cancel }
  var verb: String { "cancelled" }
}
