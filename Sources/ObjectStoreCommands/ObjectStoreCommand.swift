package import ArgumentParser
internal import CommandLineSupport
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// The command-line tool `objectstore`: reads and maintains the folder of any ObjectStore, without
/// its models.
package struct ObjectStoreCommand: AsyncParsableCommand {
  /// The name, the version and the commands.
  package static let configuration = CommandConfiguration(
    commandName: "objectstore",
    abstract: "Reads and maintains the folder of any ObjectStore, without its models.",
    usage: """
      objectstore <folder> [<command> [<argument> ...]]
      objectstore <command> <folder> [<argument> ...]
      """,
    discussion: """
      The folder comes first, or after the command; without a command, its models are listed. A \
      folder that has the name of a command is written with its path: './query'. Commands that only \
      read never create a store, and work while other processes write.

      Values are shown as they are stored: also passwords and tokens. Use 'dlstore' for a store of \
      downloads, which redacts them and knows what the records mean.

      Exit codes: 0 success; 1 something failed; 64 usage error; 65 damaged data; 66 no store; \
      73 cannot create a file; 74 I/O error or disk full; 77 permission denied.

      EXAMPLES:
        objectstore notes
        objectstore notes query Note --where 'stars>=3' --sort changed:desc
        objectstore notes get Note 42 --json
        objectstore notes export -o notes.jsonl
      """,
    version: "objectstore \(Version.number)",
    subcommands: [ManualCommand.self],
    groupedSubcommands: [
      CommandGroup(
        name: "Reading",
        subcommands: [
          ModelsCommand.self, QueryCommand.self, GetCommand.self, WatchCommand.self,
          StatsCommand.self,
        ]
      ),
      CommandGroup(
        name: "Copying",
        subcommands: [ExportCommand.self, ImportCommand.self, BackupCommand.self]
      ),
      CommandGroup(
        name: "Maintenance",
        subcommands: [
          VerifyCommand.self, RepairCommand.self, CompactCommand.self, MigrateCommand.self,
        ]
      ),
    ]
  )

  /// Creates the command; required by the parser.
  package init() {}

  /// The program of this command.
  static let program = Program(name: "objectstore", describe: { Advice.message(of: $0) })

  private static let memoryFaultMessage: StaticString =
    "objectstore: the store is damaged: an offset points outside the file\n"

  /// Runs the command of this process's arguments, and ends the process.
  package static func start() async -> Never {
    program.begin()
    Store.exitProcessOnDamage(status: ExitStatus.damaged.rawValue)
    MemoryFault.isCorruption(saying: memoryFaultMessage)
    do {
      let arguments = try CommandLineArguments.ofProcess(reading: { $0 == "TMPDIR" })
      quit(await status(of: arguments).rawValue)
    } catch {
      Output.current.say("\(error.message ?? "")")
      quit(error.status.rawValue)
    }
  }

  /// Runs the command that the arguments name, prints its error if it fails, and returns its exit
  /// status.
  static func status(of arguments: [String]) async -> ExitStatus {
    let arguments = FolderFirst.arranged(arguments, commands: commandNames) { path in
      var status = stat()
      return statFollowingLinks(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
    do {
      return await program.status(of: try parseAsRoot(arguments))
    } catch {
      let code = exitCode(for: error)
      guard !code.isSuccess else { return program.status(ofPrinting: fullMessage(for: error)) }
      let scan = CommandLineScan(arguments, root: Self.self, options: [])
      let message =
        scan.unknownCommandMessage.map { fullMessage(for: ValidationError($0)) }
        ?? scan.suggesting(
          ParserMessage.naming(arguments, in: ParserMessage.plain(fullMessage(for: error)))
        )
      Output.current.draw(TerminalText.safeLines(message) + "\n")
      return ExitStatus(rawValue: code.rawValue) ?? .usage
    }
  }

  /// The names of all commands, and the parser's `help`.
  static var commandNames: Set<String> {
    Set(["help"] + configuration.subcommands.compactMap { $0.configuration.commandName })
  }
}

/// Ends the process.
///
/// Inside a command, `exit` is the parser's function.
private func quit(_ status: Int32) -> Never {
  exit(status)
}
