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
  ///
  /// - Parameters:
  ///   - program: The program.
  ///   - failure: The error of each write of data; `nil` if data can be written.
  ///   - body: Runs a command.
  /// - Returns: What it has written, and its exit status.
  package static func of(
    _ program: Program,
    failingWith failure: CommandFailure? = nil,
    _ body: (Output) async -> ExitStatus
  ) async -> CommandResult {
    let data = CapturedText()
    let messages = CapturedText()
    let output = Output(
      program: program,
      data: { bytes in
        if let failure { throw failure }
        data.append(bytes)
      },
      messages: { messages.append($0) }
    )
    let status = await Output.$current.withValue(output) { await body(output) }
    return CommandResult(status: status, output: data.text, messages: messages.text)
  }
}
