import ArgumentParser
import CommandTestSupport

@testable import CommandLineSupport
@testable import DownloadCommands

/// Runs a command in this process.
///
/// Arguments that the parser rejects give the status `usage`.
func dlstore(_ arguments: String...) async -> CommandResult {
  await dlstore(arguments)
}

/// Runs a command in this process.
///
/// Arguments that the parser rejects give the status `usage`.
///
/// - Parameters:
///   - arguments: The words after the program's name.
///   - failure: The error of each write to standard output; `nil` if it can be written.
/// - Returns: The output and the exit status.
func dlstore(
  _ arguments: [String],
  failingWith failure: CommandFailure? = nil
) async -> CommandResult {
  await CommandResult.of(DLStoreCommand.program(arguments), failingWith: failure) { output in
    do {
      let command = try DLStoreCommand.command(of: arguments)
      return await output.program.status(of: command)
    } catch {
      output.say(DLStoreCommand.text(ofParserError: error, arguments))
      return ExitStatus(rawValue: DLStoreCommand.exitCode(for: error).rawValue) ?? .failed
    }
  }
}
