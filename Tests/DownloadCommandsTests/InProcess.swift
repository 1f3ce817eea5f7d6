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
      let command = try DLStoreCommand.command(of: patient(arguments))
      return await output.program.status(of: command)
    } catch {
      output.say(DLStoreCommand.text(ofParserError: error, arguments))
      return ExitStatus(rawValue: DLStoreCommand.exitCode(for: error).rawValue) ?? .failed
    }
  }
}

/// Returns the words of a command that may run an engine with limits of time that a busy machine
/// does not reach: those that the built program gets from its environment in tests.
///
/// A server in a test may pause for longer than the program waits by default. The command would
/// send further requests, or let another download go first.
private func patient(_ arguments: [String]) -> [String] {
  let scan = DLStoreCommand.scan(arguments)
  guard scan.command is any EngineCommand.Type, !CommandLineScan.isRequest(arguments) else {
    return arguments
  }
  let patience = [("--timeout", "10m"), ("--lowest-speed-time", "1h")]
  var words = arguments
  words.insert(
    contentsOf: patience.filter { scan.given[$0.0] == nil }.map { "\($0)=\($1)" },
    at: scan.endOfName
  )
  return words
}
