internal import ArgumentParser
internal import DownloadStore

/// The commands that `get` and `run` start when a download ends.
struct HookOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A command for each completed download; run by /bin/sh, with the record as JSON on standard "
        + "input.",
      valueName: "cmd"
    )
  )
  var onComplete: String?

  @Option(
    help: ArgumentHelp(
      "A command for each download that failed permanently; run as --on-complete.",
      valueName: "cmd"
    )
  )
  var onError: String?

  @Option(
    help: ArgumentHelp(
      "A command that prints a new URL for a download whose URL the server refuses, such as an "
        + "expired signed link; run as --on-complete.",
      valueName: "cmd"
    )
  )
  var urlCommand: String?

  func validate() throws {
    guard ![onComplete, onError, urlCommand].contains("") else {
      throw ValidationError("--on-complete, --on-error and --url-command need a command.")
    }
  }

  /// The names of the options that were given.
  var names: [String] {
    [
      onComplete.map { _ in "--on-complete" }, onError.map { _ in "--on-error" },
      urlCommand.map { _ in "--url-command" },
    ].compactMap(\.self)
  }

  /// The command that supplies URLs.
  var urlSource: UserCommand? { urlCommand.map(UserCommand.init) }

  /// The command of each hook.
  var commands: [DownloadHook: UserCommand] {
    var commands: [DownloadHook: UserCommand] = [:]
    commands[.completion] = onComplete.map(UserCommand.init)
    commands[.failure] = onError.map(UserCommand.init)
    return commands
  }
}
