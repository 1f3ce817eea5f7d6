internal import ArgumentParser
internal import DownloadStore

/// The downloads that a command changes: by name, by tag, or all.
struct RecordTargets: ParsableArguments {
  @Argument(
    help: ArgumentHelp("URLs, ids, or id prefixes.", valueName: "url|id"),
    completion: StoreCompletion.downloads
  )
  var names: [String] = []

  @Option(help: ArgumentHelp("All downloads with this tag.", valueName: "tag"))
  var tag: String?

  @Flag(help: "All downloads.")
  var all = false

  func validate() throws {
    let count = (names.isEmpty ? 0 : 1) + (tag == nil ? 0 : 1) + (all ? 1 : 0)
    guard count <= 1 else {
      throw ValidationError("Pass only one of these: URLs or ids, --tag, --all.")
    }
    guard count == 1 else {
      throw ValidationError("No downloads specified: pass URLs or ids, --tag, or --all.")
    }
  }

  /// The selection as the store takes it.
  var selection: RecordSelection {
    if all { return .all }
    return tag.map(RecordSelection.tagged) ?? .matching(names)
  }
}
