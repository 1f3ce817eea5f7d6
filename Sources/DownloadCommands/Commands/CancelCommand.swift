internal import ArgumentParser
internal import DownloadStore

/// `dlstore cancel`: gives downloads up.
struct CancelCommand: WishCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Gives downloads up: deletes what is downloaded, and keeps the records.",
    discussion: """
      Finished files stay, and so does what is complete. Without an engine that runs it is done \
      before the command ends; otherwise that engine does it at once.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  var wish: Wish { .cancel }
  var verb: String { "cancelled" }
}
