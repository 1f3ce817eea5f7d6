package import ArgumentParser
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
      69 no server could be reached; 73 cannot create a file; 74 I/O error or disk full; \
      75 another engine is running; 77 permission denied.

      EXAMPLES:
        dlstore get https://example.com/a.iso
        dlstore add https://example.com/model.bin --tag models
        dlstore run --until-idle
      """,
    version: Version.text,
    subcommands: [
      AddCommand.self, GetCommand.self, RunCommand.self, ListCommand.self, InspectCommand.self,
      PauseCommand.self, ResumeCommand.self, CancelCommand.self, RestartCommand.self,
      RemoveCommand.self, SetCommand.self, PurgeCommand.self, ReconcileCommand.self,
      ExplainCommand.self, ResumeDataCommand.self, ExportCommand.self, ImportCommand.self,
      StatsCommand.self, VerifyCommand.self, VerifyFileCommand.self, BackupCommand.self,
      CompactCommand.self, MigrateCommand.self, RootCommand.self, StoreCommand.self,
      ConfigCommand.self, ManualCommand.self,
    ]
  )

  @OptionGroup var location: StoreLocation

  /// Creates the command; required by the parser.
  package init() {}

  /// Runs the command of this process's arguments, and ends the process.
  package static func start() async -> Never {
    // First, before any file is opened.
    StandardDescriptors.openMissing()
    // A write to a closed pipe then fails with EPIPE, which is handled.
    _ = signal(SIGPIPE, SIG_IGN)
    Store.exitProcessOnDamage(status: ExitStatus.damaged.rawValue)
    var arguments: [String] = []
    do {
      arguments = try CommandLineText.arguments()
      let configuration = try Configuration(
        arguments,
        environment: ProcessInfo.processInfo.environment,
        readsFile: Worker.current == nil
      )
      let command = try parseAsRoot(configuration.arguments)
      #if os(Linux)
        // Here, because the supervisor needs the main thread.
        if let command = command as? any EngineCommand, Worker.current == nil {
          let supervisor = Supervisor(
            failsWhenSomethingFailed: command.failsWhenSomethingFailed,
            environment: configuration.workerEnvironment.merging(
              command.limits.client.connection.environment
            ) { $1 }
          )
          quit(supervisor.run())
        }
      #endif
      if !(command is any EngineCommand) { MemoryFault.isCorruption() }
      let result = try await Configuration.$current.withValue(configuration) {
        // A command is not sendable, so this closure parses its own.
        await status(of: try parseAsRoot(configuration.arguments))
      }
      quit(result.rawValue)
    } catch let failure as CommandFailure {
      if let message = failure.message { Output.current.say(message) }
      quit(failure.status.rawValue)
    } catch {
      end(withParserError: error, arguments)
    }
  }

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
    let scan = scan(arguments)
    if let word = scan.unknownCommand {
      let name = (scan.names + [word]).joined(separator: " ")
      let suggestion = Suggestion.text(for: word, among: scan.commandNames)
      let message = fullMessage(
        for: ValidationError("There is no command '\(name)'.\(suggestion)")
      )
      return CommandLineText.redacted(message, arguments)
    }
    var lines = fullMessage(for: error).split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
    for argument in scan.arguments {
      guard let values = argument.allValues,
        let word = argument.spellings.compactMap({ scan.given[$0]?.last }).last,
        !values.contains(word), lines[0].contains("'\(word)'")
      else { continue }
      lines[0] += Suggestion.text(for: word, among: values)
    }
    return CommandLineText.redacted(lines.joined(separator: "\n"), arguments)
  }

  /// Runs a command, prints its error if it fails, and returns its exit status.
  static func status(of command: sending any ParsableCommand) async -> ExitStatus {
    do {
      var command = command
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      return .done
    } catch is ClosedPipe {
      return .done
    } catch let failure as CommandFailure {
      if let message = failure.message { Output.current.say(message) }
      return failure.status
    } catch let error where exitCode(for: error).isSuccess {
      // The parser throws a clean exit to print help.
      exit(withError: error)
    } catch {
      Output.current.say(Advice.message(of: error))
      return ExitStatus(error)
    }
  }
}

/// Ends the process.
///
/// Inside a command, `exit` is the parser's function.
private func quit(_ status: Int32) -> Never {
  exit(status)
}
