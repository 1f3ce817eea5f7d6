internal import ArgumentParser
internal import DownloadStore

/// `dlstore cancel`: deletes partial files, keeps the records.
struct CancelCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancels downloads: deletes partial files, keeps the records.",
    discussion: """
      Completed downloads and their files are not changed. If an engine is running, it cancels the \
      transfers, and the command waits for it for up to two seconds. Otherwise the command deletes \
      the files itself.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  var command: DownloadCommand { .cancel }
  var verb: String { "cancelled" }
}
