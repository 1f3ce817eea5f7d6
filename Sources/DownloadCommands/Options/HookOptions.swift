internal import ArgumentParser
internal import DownloadStore

/// What `get` and `run` do when a download ends.
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

  @Option(
    help: ArgumentHelp(
      "A URL to which the record of each download that completed or failed permanently is posted as "
        + "JSON.",
      valueName: "url"
    ),
    transform: { text in
      do {
        try RecordIdentity.validate(text)
      } catch {
        throw ValidationError("'\(Redaction.webhook(text))' is not an http or https URL.")
      }
      return text
    }
  )
  var webhook: String?

  func validate() throws {
    let commands = [
      ("--on-complete", onComplete), ("--on-error", onError), ("--url-command", urlCommand),
    ]
    for (option, command) in commands where command?.isEmpty == true {
      throw ValidationError("\(option) requires a command.")
    }
  }

  /// Whether nothing is done at the end of a download.
  var isEmpty: Bool { onComplete == nil && onError == nil && webhook == nil }

  /// The names of the options that were given.
  var names: [String] {
    [
      onComplete.map { _ in "--on-complete" }, onError.map { _ in "--on-error" },
      urlCommand.map { _ in "--url-command" }, webhook.map { _ in "--webhook" },
    ].compactMap(\.self)
  }

  /// The command that supplies URLs.
  var urlSource: UserCommand? { urlCommand.map(UserCommand.init) }

  /// Returns what is done at the end of a download; `nil` if no option says anything.
  ///
  /// - Parameter client: The options of the HTTP client, for the webhook.
  /// - Returns: The actions.
  /// - Throws: ``CommandFailure``.
  func actions(_ client: ClientOptions) throws -> HookActions? {
    var commands: [DownloadHook: UserCommand] = [:]
    commands[.completion] = onComplete.map(UserCommand.init)
    commands[.failure] = onError.map(UserCommand.init)
    let webhook = try webhook.map { try Webhook($0, client) }
    return commands.isEmpty && webhook == nil
      ? nil : HookActions(commands: commands, webhook: webhook)
  }
}
