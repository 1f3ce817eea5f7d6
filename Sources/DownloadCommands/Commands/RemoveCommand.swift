internal import ArgumentParser
internal import DownloadStore

/// `dlstore remove`: forgets downloads.
struct RemoveCommand: WishCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Forgets downloads: deletes what is downloaded, and the records.",
    discussion: """
      Finished files stay, unless --with-file is given and the file is provably the one that was \
      downloaded. An engine that runs does it, and is waited for up to two seconds; without one it \
      is done before the command ends.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var targets: RecordTargets

  @Flag(help: "Delete the finished files too.")
  var withFile = false

  var wish: Wish { .remove(withFile: withFile) }
  var verb: String { "removed" }
}
