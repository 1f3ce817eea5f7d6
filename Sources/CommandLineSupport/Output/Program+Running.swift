package import ArgumentParser
package import ProgramOutput

extension Program {
  /// Runs a command, prints its error if it fails, and returns its exit status.
  ///
  /// A command whose result is its output does not begin if the caller has closed standard output.
  package func status(of command: sending any ParsableCommand) async -> ExitStatus {
    let type = type(of: command)
    let outputIsResult = command.outputIsResult
    do {
      if outputIsResult { try Output.current.requireOpen() }
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
      if let message = failure.text(outputIsResult: outputIsResult) {
        Output.current.say(message)
      }
      return failure.status
    } catch let error where type.exitCode(for: error).isSuccess {
      // The parser throws a clean exit to print help.
      return status(ofPrinting: type.fullMessage(for: error))
    } catch {
      Output.current.say(describe(error))
      return ExitStatus(error)
    }
  }

  /// Prints help, the version or a completion script, and returns the exit status.
  package func status(ofPrinting text: String) -> ExitStatus {
    do {
      try Output.current.requireOpen()
      // A completion may have no candidates.
      if !text.isEmpty { try Output.current.line(text) }
      return .done
    } catch {
      if let message = (error as? CommandFailure)?.message { Output.current.say(message) }
      return ExitStatus(error)
    }
  }
}

extension CommandFailure {
  /// The message, which says if the command has made its change and only its report is lost.
  ///
  /// - Parameter outputIsResult: Whether the output of the command is its result.
  /// - Returns: The message; `nil` if the failure has already been reported.
  package func text(outputIsResult: Bool) -> String? {
    isOfReport && !outputIsResult ? message.map { "the change was made, but \($0)" } : message
  }
}

/// An invalid command line.
extension ValidationError: ExitStatusProviding {
  package var exitStatus: ExitStatus { .usage }
}
