import CommandLineSupport
import CommandTestSupport
import Foundation
import TestSupport

@testable import ObjectStoreCommands

/// Runs a command in this process.
func objectstore(_ arguments: String...) async -> CommandResult {
  await objectstore(arguments)
}

/// Runs a command in this process.
///
/// - Parameters:
///   - arguments: The words after the program's name.
///   - failure: The error of each write to standard output; `nil` if it can be written.
/// - Returns: The output and the exit status.
func objectstore(
  _ arguments: [String],
  failingWith failure: CommandFailure? = nil
) async -> CommandResult {
  await CommandResult.of(ObjectStoreCommand.program, failingWith: failure) { _ in
    await ObjectStoreCommand.status(of: arguments)
  }
}

extension BuiltProcess {
  /// Runs the built `objectstore` and waits until it exits.
  static func run(
    _ arguments: String...,
    in current: String = "/",
    shell: String? = nil
  ) async throws -> (status: Int32, output: String, messages: String) {
    let process = try BuiltProcess(program: "objectstore", arguments, in: current, shell: shell)
    let status = try await process.status()
    return (status, process.output, process.messages)
  }
}
