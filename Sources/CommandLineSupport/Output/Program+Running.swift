package import ArgumentParser
package import ProgramOutput

extension Program {
  /// Runs a command, prints its error if it fails, and returns its exit status.
  package func status(of command: sending any ParsableCommand) async -> ExitStatus {
    let type = type(of: command)
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
    } catch let error where type.exitCode(for: error).isSuccess {
      // The parser throws a clean exit to print help.
      do {
        try Output.current.line(type.fullMessage(for: error))
        return .done
      } catch {
        return ExitStatus(error)
      }
    } catch {
      Output.current.say(describe(error))
      return ExitStatus(error)
    }
  }
}

/// An invalid command line.
extension ValidationError: ExitStatusProviding {
  package var exitStatus: ExitStatus { .usage }
}
