internal import ArgumentParser
internal import DownloadStore

/// `dlstore remove`: removes downloads and their partial files.
struct RemoveCommand: SelectionCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes downloads: deletes the records and their partial files.",
    discussion: """
      Finished files are kept unless --with-file is given and the file is provably the one that was \
      downloaded. If an engine is running, it does the work, and the command waits for it for up to \
      two seconds. Otherwise the command deletes the files itself.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  @Flag(help: "Also delete the finished files.")
  var withFile = false

  var command: DownloadCommand { .remove(withFile: withFile) }
  var verb: String { "removed" }
}
