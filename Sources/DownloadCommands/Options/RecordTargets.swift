internal import ArgumentParser
internal import DownloadStore

/// Which downloads a command is about: those named, those of a tag, or all.
struct RecordTargets: ParsableArguments {
  @Argument(help: ArgumentHelp("The URLs, the ids, or their beginnings.", valueName: "url|id"))
  var names: [String] = []

  @Option(help: ArgumentHelp("All that have that tag.", valueName: "tag"))
  var tag: String?

  @Flag(help: "All of the store.")
  var all = false

  func validate() throws {
    let count = (names.isEmpty ? 0 : 1) + (tag == nil ? 0 : 1) + (all ? 1 : 0)
    guard count == 1 else {
      throw ValidationError("Say which downloads: URLs or ids, or --tag, or --all.")
    }
  }

  /// What the store understands.
  var selection: RecordSelection {
    if all { return .all }
    return tag.map(RecordSelection.tagged) ?? .named(names)
  }
}
