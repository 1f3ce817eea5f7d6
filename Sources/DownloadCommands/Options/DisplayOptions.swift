internal import ArgumentParser
internal import CommandLineSupport

/// Options for what `get` and `run` show.
struct DisplayOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Print errors only.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Print each step of the engine.")
  var verbose = false

  @Flag(help: "Print plain lines instead of progress bars on a terminal.")
  var noProgress = false

  @Flag(help: "Print one JSON object per event on standard output; implies --no-progress.")
  var jsonEvents = false

  @OptionGroup var color: ColorOption

  func validate() throws {
    guard !quiet || !verbose else {
      throw ValidationError("--quiet and --verbose exclude each other.")
    }
  }

  /// Whether progress bars are shown on a terminal.
  var showsBars: Bool { !quiet && !noProgress && !jsonEvents }
}
