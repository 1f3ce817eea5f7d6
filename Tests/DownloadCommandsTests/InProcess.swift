import ArgumentParser

@testable import DownloadCommands

/// The output and exit status of a command.
struct CommandResult: Sendable, Equatable {
  var status: ExitStatus
  var output: String
  var messages: String

  var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// Runs a command in this process.
///
/// Arguments that the parser rejects give the status `usage`.
func dlstore(_ arguments: String...) async -> CommandResult {
  await dlstore(arguments)
}

/// Runs a command in this process.
///
/// Arguments that the parser rejects give the status `usage`.
func dlstore(_ arguments: [String]) async -> CommandResult {
  let data = CapturedText()
  let messages = CapturedText()
  let output = Output(data: { data.append($0) }, messages: { messages.append($0) })
  let status = await Output.$current.withValue(output) {
    do {
      let command = try DLStoreCommand.parseAsRoot(arguments)
      return await DLStoreCommand.status(of: command)
    } catch {
      output.say(DLStoreCommand.text(ofParserError: error, arguments))
      return ExitStatus(rawValue: DLStoreCommand.exitCode(for: error).rawValue) ?? .failed
    }
  }
  return CommandResult(status: status, output: data.text, messages: messages.text)
}
