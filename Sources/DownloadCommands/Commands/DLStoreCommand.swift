package import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// The command-line tool `dlstore`: a durable store of downloads, and the engine that runs them.
package struct DLStoreCommand: AsyncParsableCommand {
  /// The name, the version and the commands.
  package static let configuration = CommandConfiguration(
    commandName: "dlstore",
    abstract: "Stores downloads durably, runs them, and resumes them after a crash.",
    discussion: """
      Exit codes: 0 success; 1 something failed; 64 usage error; 65 damaged data; 66 no store; \
      69 no server could be reached; 70 the worker keeps crashing; 73 cannot create a file; \
      74 I/O error or disk full; 75 another engine is running; 77 permission denied.

      EXAMPLES:
        dlstore get https://example.com/a.iso
        dlstore add https://example.com/model.bin --tag models
        dlstore run --until-idle
      """,
    version: Version.text,
    subcommands: [ManualCommand.self],
    groupedSubcommands: [
      CommandGroup(
        name: "Download",
        subcommands: [GetCommand.self, AddCommand.self, RunCommand.self]
      ),
      CommandGroup(
        name: "Look",
        subcommands: [ListCommand.self, InspectCommand.self, StatsCommand.self]
      ),
      CommandGroup(
        name: "Control",
        subcommands: [
          PauseCommand.self, ResumeCommand.self, RetryCommand.self, CancelCommand.self,
          RestartCommand.self, RemoveCommand.self, SetCommand.self, LimitCommand.self,
          PurgeCommand.self,
        ]
      ),
      CommandGroup(
        name: "Files",
        subcommands: [CatCommand.self, VerifyFileCommand.self, RootCommand.self]
      ),
      CommandGroup(
        name: "Store",
        subcommands: [
          VerifyCommand.self, BackupCommand.self, CompactCommand.self, ExportCommand.self,
          ImportCommand.self, MigrateCommand.self, ConfigCommand.self,
        ]
      ),
      CommandGroup(
        name: "Experts",
        subcommands: [
          ReconcileCommand.self, ExplainCommand.self, StoreCommand.self, ResumeDataCommand.self,
        ]
      ),
    ]
  )

  @OptionGroup var location: StoreLocation

  /// Creates the command; required by the parser.
  package init() {}

  /// Prints the first screen.
  package func run() async throws {
    try Output.current.line(FirstScreen(path: location.resolved()).text)
  }

  /// The program of this command, whose messages have no secrets.
  static let program = Program(
    name: "dlstore",
    redact: { Redaction.text($0) },
    describe: { Advice.message(of: $0) }
  )

  /// Runs the command of this process's arguments, and ends the process.
  package static func start() async -> Never {
    program.begin()
    Store.exitProcessOnDamage(status: ExitStatus.damaged.rawValue)
    var arguments: [String] = []
    do {
      arguments = try CommandLineText.arguments()
      if CommandLineScan.mayHaveAttachedValues(arguments), !CommandLineScan.isRequest(arguments) {
        let scan = scan(arguments)
        if let option = scan.unknownShortOption(in: arguments) {
          throw ValidationError("Unknown option '\(option)'")
        }
        arguments = scan.separatingValues(in: arguments)
      }
      if arguments == ["help", "--all"] {
        try Output.current.line(CommandOverview.text(of: CommandInfo(of: Self.self)))
        quit(ExitStatus.done.rawValue)
      }
      let configuration = try Configuration(
        arguments,
        environment: ProcessInfo.processInfo.environment,
        readsFile: Worker.current == nil
      )
      let command = try command(of: configuration.arguments)
      #if os(Linux)
        // Here, because the supervisor needs the main thread.
        if let command = command as? any EngineCommand, Worker.current == nil {
          if let command = command as? GetCommand, command.readsInput { try SpooledInput.spool() }
          let isPiped = (command as? GetCommand)?.what.writesOutput ?? false
          let supervisor = Supervisor(
            failsWhenSomethingFailed: command.failsWhenSomethingFailed,
            environment: configuration.workerEnvironment.merging(
              command.limits.client.connection.environment
            ) { $1 },
            position: try isPiped ? OutputPosition.create() : nil
          )
          quit(supervisor.run())
        }
      #endif
      if !(command is any EngineCommand) { MemoryFault.isCorruption(saying: memoryFaultMessage) }
      let result = try await Configuration.$current.withValue(configuration) {
        // A command is not sendable, so this closure parses its own.
        await program.status(of: try parseAsRoot(configuration.arguments))
      }
      quit(result.rawValue)
    } catch let failure as CommandFailure {
      if let message = failure.message { Output.current.say(message) }
      quit(failure.status.rawValue)
    } catch {
      end(withParserError: error, arguments)
    }
  }

  private static let memoryFaultMessage: StaticString =
    "dlstore: the store is damaged: an offset points outside the file\n"

  /// Prints the parser's message and ends the process.
  ///
  /// Help goes to standard output. An error repeats arguments, so secrets and control characters in
  /// it are replaced.
  private static func end(withParserError error: any Error, _ arguments: [String]) -> Never {
    let code = exitCode(for: error)
    guard !code.isSuccess else { exit(withError: error) }
    let message = text(ofParserError: error, arguments)
    Output.current.draw(TerminalText.safeLines(message) + "\n")
    quit(code.rawValue)
  }

  /// Finds the command and the options that the arguments name.
  static func scan(_ arguments: [String]) -> CommandLineScan {
    CommandLineScan(arguments, root: Self.self, options: [StoreLocation.self])
  }

  /// Returns the message for an error of the parser, with a suggestion for a mistyped word, and
  /// without the secrets of arguments.
  ///
  /// The parser suggests options, but neither commands nor values.
  static func text(ofParserError error: any Error, _ arguments: [String]) -> String {
    let isHelp = arguments.first == "help"
    let scan = scan(isHelp ? Array(arguments.dropFirst()) : arguments)
    if let word = scan.unknownCommand, scan.names.isEmpty {
      let names = scan.commandNames.filter { !ForeignWords.destructiveCommands.contains($0) }
      let hint =
        ForeignWords.hint(forCommand: word).map { " \($0.prefix(1).uppercased())\($0.dropFirst())" }
        ?? Suggestion.text(for: word, among: names)
      let message = "There is no command '\(word)'.\(hint)"
      return CommandLineText.redacted(fullMessage(for: ValidationError(message)), arguments)
    }
    if let message = scan.unknownCommandMessage {
      return CommandLineText.redacted(usageMessage(message, scan), arguments)
    }
    let message = hinting(
      scan.suggesting(ParserMessage.plain(fullMessage(for: error))),
      scan,
      arguments
    )
    return CommandLineText.redacted(message, arguments)
  }

  /// The message for a word that names no command below the commands of the scan.
  private static func usageMessage(_ message: String, _ scan: CommandLineScan) -> String {
    let name = (["dlstore"] + scan.names).joined(separator: " ")
    return """
      Error: \(message)
      Usage: \(name) <subcommand>
        See '\(name) --help' for more information.
      """
  }

  /// Parses the arguments.
  ///
  /// - Throws: The parser's error; `ValidationError` if the words after `help` name no command.
  static func command(of arguments: [String]) throws -> any ParsableCommand {
    if arguments.first == "help", scan(Array(arguments.dropFirst())).unknownCommand != nil {
      throw ValidationError("no such command")
    }
    return try parseAsRoot(arguments)
  }

  /// Replaces the parser's suggestion for an unknown option, which may be any other one, by a hint or
  /// by a similar option.
  private static func hinting(
    _ message: String,
    _ scan: CommandLineScan,
    _ arguments: [String]
  ) -> String {
    let lines = message.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = lines.first, let start = first.firstRange(of: "Unknown option '"),
      let end = first[start.upperBound...].firstIndex(of: "'")
    else { return message }
    let name = String(first[start.upperBound..<end])
    let value = arguments.firstIndex(of: name).flatMap { arguments.dropFirst($0 + 1).first }
    let spellings = scan.arguments.flatMap(\.spellings).filter { $0.hasPrefix("--") }
    let hint =
      (ownHint(forOption: name, scan)
      ?? ForeignWords.hint(
        forOption: name,
        value: value,
        isList: !spellings.contains("--json-events")
      )).map { " \($0)." }
      ?? (name.hasPrefix("--") ? Suggestion.text(for: name, among: spellings) : "")
    let head = first[...end] + ":" + hint
    let text =
      hint.isEmpty
      ? String(first[...end]) : hint.hasPrefix(" Did") ? first[...end] + "." + hint : String(head)
    return ([text] + lines.dropFirst().map(String.init)).joined(separator: "\n")
  }
}

extension DLStoreCommand {
  /// Returns the hint for an option that other commands have; `nil` if none has it, or a similar one
  /// of this command is likelier.
  private static func ownHint(forOption name: String, _ scan: CommandLineScan) -> String? {
    guard let command = scan.names.first, name.hasPrefix("--") else { return nil }
    let selects = scan.arguments.contains { $0.spellings.contains("--match") }
    switch (command, name) {
    case ("add", "--output-folder"), ("add", "--dir"):
      return "use --folder FOLDER below the folder for files, -o /PATH/NAME, or 'dlstore get'"
    case ("list", "--all"): return "without a selection, all are shown"
    case (_, "--all") where selects: return "--match '*' selects all downloads"
    default: break
    }
    let commands = CommandInfo(of: Self.self).visibleCommands.filter { command in
      command.visibleArguments.contains { !$0.isBuiltIn && $0.spellings.contains(name) }
    }
    .map { "'\($0.fullName)'" }
    guard let last = commands.last else { return nil }
    let names = commands.dropLast().prefix(3).joined(separator: ", ")
    return "it is an option of " + (names.isEmpty ? last : "\(names) and \(last)")
  }
}

/// Ends the process.
///
/// Inside a command, `exit` is the parser's function.
private func quit(_ status: Int32) -> Never {
  exit(status)
}
