internal import ArgumentParser
internal import DownloadStore
internal import ObjectStore

/// The downloads that a command changes: those that are selected, or all.
struct RecordTargets: ParsableArguments {
  @OptionGroup var selection: SelectionOptions

  @Flag(help: "All downloads.")
  var all = false

  func validate() throws {
    guard !all || selection.isEmpty else {
      throw ValidationError(
        "Pass only one of these: names of downloads, options that select them, --all."
      )
    }
  }

  /// Whether downloads are specified.
  var isEmpty: Bool { !all && selection.isEmpty }

  /// Refuses a command line that specifies no download.
  ///
  /// - Throws: `ValidationError`.
  func requireAny() throws(ValidationError) {
    guard isEmpty else { return }
    throw ValidationError(
      "No downloads specified: pass URLs, ids or file names, options such as --state or --tag, or "
        + "--all."
    )
  }

  /// The downloads as the store takes them.
  ///
  /// - Parameter engineRuns: Whether an engine runs on the store.
  /// - Returns: The names or the condition.
  func targets(engineRuns: Bool) -> CommandTargets {
    if all { return .matching(.all) }
    guard selection.names.isEmpty else { return .named(selection.names) }
    return .matching(selection.condition(engineRuns: engineRuns))
  }
}
