package import CommandLineSupport

/// The output and exit status of a command.
package struct CommandResult: Sendable, Equatable {
  package var status: ExitStatus
  package var output: String
  package var messages: String

  package init(status: ExitStatus, output: String, messages: String) {
    self.status = status
    self.output = output
    self.messages = messages
  }

  package var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// Runs `body` with the output of a program, and captures it.
  package static func of(
    _ program: Program,
    _ body: (Output) async -> ExitStatus
  ) async -> CommandResult {
    let data = CapturedText()
    let messages = CapturedText()
    let output = Output(
      program: program,
      data: { data.append($0) },
      messages: { messages.append($0) }
    )
    let status = await Output.$current.withValue(output) { await body(output) }
    return CommandResult(status: status, output: data.text, messages: messages.text)
  }
}
