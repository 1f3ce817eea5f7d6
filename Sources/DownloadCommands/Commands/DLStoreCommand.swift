package import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
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
        subcommands: [
          GetCommand.self, AddCommand.self, RunCommand.self, RefreshCommand.self, Aria2Command.self,
        ]
      ),
      CommandGroup(
        name: "Look",
        subcommands: [
          ListCommand.self, InspectCommand.self, StatsCommand.self, ServeCommand.self,
        ]
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

  /// Returns the program of a command line, whose messages have no secrets.
  static func program(_ arguments: [String] = []) -> Program {
    Program(
      name: "dlstore",
      redact: { Redaction.text($0) },
      describe: { Advice.message(of: $0) },
      repeatedOptions: SuggestedCommand.repeatedOptions(of: arguments)
    )
  }

  /// Runs the command of this process's arguments, and ends the process.
  package static func start() async -> Never {
    program().begin()
    Store.exitProcessOnDamage(status: ExitStatus.damaged.rawValue)
    var arguments: [String] = []
    do {
      arguments = try CommandLineText.arguments()
      if let front = Aria2Front(program: CommandLine.arguments.first, arguments) {
        quit(await front.run())
      }
      program(arguments).becomeProcess()
      let environment = ProcessInfo.processInfo.environment
      let options = try RemoteOptions(arguments)
      arguments = options.words
      if let server = try RemoteServer(options, environment: environment) {
        quit(try await server.run())
      }
      arguments = try separatingValues(in: arguments)
      if arguments == ["help", "--all"] {
        let text = CommandOverview.text(of: CommandInfo(of: Self.self))
        quit(Program.ofProcess.status(ofPrinting: text).rawValue)
      }
      let configuration = try Configuration(
        arguments,
        environment: environment,
        readsFile: Worker.current == nil
      )
      let command = try command(of: configuration.arguments)
      #if os(Linux)
        // Here, because the supervisor needs the main thread.
        if let command = command as? any EngineCommand, command.runsEngine, Worker.current == nil {
          if let command = command as? GetCommand, command.readsInput { try SpooledInput.spool() }
          let isPiped = (command as? GetCommand)?.what.writesOutput ?? false
          let supervisor = Supervisor(
            failsWhenSomethingFailed: command.failsWhenSomethingFailed,
            environment: configuration.workerEnvironment.merging(
              try command.workerEnvironment()
            ) { $1 },
            position: try isPiped ? OutputPosition.create() : nil
          )
          quit(supervisor.run())
        }
      #endif
      if (command as? any EngineCommand)?.runsEngine != true {
        MemoryFault.isCorruption(saying: memoryFaultMessage)
      }
      let result = try await Configuration.$current.withValue(configuration) {
        // A command is not sendable, so this closure parses its own.
        await Program.ofProcess.status(of: try Self.command(of: configuration.arguments))
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
    guard !code.isSuccess else {
      quit(Program.ofProcess.status(ofPrinting: fullMessage(for: error)).rawValue)
    }
    let message = text(ofParserError: error, arguments)
    Output.current.draw(TerminalText.safeLines(message) + "\n")
    quit(code.rawValue)
  }

  /// Returns the arguments with each value that is attached to a short option as a word of its own.
  ///
  /// - Throws: `ValidationError` for an unknown short option with a value.
  static func separatingValues(in arguments: [String]) throws(ValidationError) -> [String] {
    guard CommandLineScan.mayHaveAttachedValues(arguments), !CommandLineScan.isRequest(arguments)
    else { return arguments }
    let scan = scan(arguments)
    if let option = scan.unknownShortOption(in: arguments) {
      throw ValidationError("Unknown option '\(option)'")
    }
    return scan.separatingValues(in: arguments)
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
        hint(forCommand: word, arguments).map { " \($0.prefix(1).uppercased())\($0.dropFirst())" }
        ?? Suggestion.text(for: word, among: names)
      let end = hint.isEmpty || hint.hasSuffix("?") ? "" : "."
      let message = "There is no command '\(word)'.\(hint)\(end)"
      return CommandLineText.redacted(fullMessage(for: ValidationError(message)), arguments)
    }
    if let message = scan.unknownCommandMessage {
      return CommandLineText.redacted(usageMessage(message, scan), arguments)
    }
    let message = hinting(
      scan.suggesting(
        ParserMessage.naming(arguments, in: ParserMessage.plain(fullMessage(for: error)))
      ),
      scan,
      arguments
    )
    return CommandLineText.redacted(message, arguments)
  }

  /// Returns the hint for a word in the place of a command; `nil` if it is not known.
  private static func hint(forCommand word: String, _ arguments: [String]) -> String? {
    if word.contains("://") || URLText.completed(word) != nil,
      let command = UnknownOptionMessage.getCommand(arguments)
    {
      return "did you mean \(command)?"
    }
    return ForeignWords.hint(forCommand: word)
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
    return try parseAsRoot(PositionalWords.joined(arguments))
  }

  /// Replaces the parser's suggestion for an unknown option, which may be any other one, by what is
  /// known about all unknown options of the command line.
  private static func hinting(
    _ message: String,
    _ scan: CommandLineScan,
    _ arguments: [String]
  ) -> String {
    let lines = message.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = lines.first, let name = unknownOption(in: first, scan, arguments) else {
      return message
    }
    let line = UnknownOptionMessage(name, arguments, scan).line
    // A word of short options is refused before its command is parsed.
    let isParsed = scan.names.isEmpty || !message.contains("Usage: dlstore [--store")
    let rest =
      isParsed
      ? lines.dropFirst().map(String.init)
      : ["  See 'dlstore \(scan.names.joined(separator: " ")) --help' for more information."]
    return (["Error: \(line)"] + rest).joined(separator: "\n")
  }

  /// Returns the unknown option of an error.
  ///
  /// The parser checks what the options say together before it reports unknown ones, which are the
  /// likelier mistake.
  private static func unknownOption(
    in line: Substring,
    _ scan: CommandLineScan,
    _ arguments: [String]
  ) -> String? {
    if let start = line.firstRange(of: "Unknown option '"),
      let end = line[start.upperBound...].firstIndex(of: "'")
    {
      return String(line[start.upperBound..<end])
    }
    // A missing value is that of a known option, and a request is not among a command's options.
    guard !line.contains("Missing value for "), !CommandLineScan.isRequest(arguments) else {
      return nil
    }
    return UnknownOptions(arguments, scan).found.first?.name
  }
}

/// Ends the process.
///
/// Inside a command, `exit` is the parser's function.
private func quit(_ status: Int32) -> Never {
  exit(status)
}
