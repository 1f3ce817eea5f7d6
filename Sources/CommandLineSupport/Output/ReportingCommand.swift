package import ArgumentParser

/// A command that does more than print: it changes a store or a file, or runs a server.
///
/// Its output is a report. If that cannot be written, the message says that the change was made, and a
/// closed standard output does not keep the command from its work. The output of all other commands is
/// their result, without which they are of no use.
package protocol ReportingCommand: ParsableCommand {
  /// Whether the output is the result with these options, as in a preview, which changes nothing.
  var printsResult: Bool { get }
}

extension ReportingCommand {
  package var printsResult: Bool { false }
}

extension ParsableCommand {
  /// Whether the output of this command is its result.
  package var outputIsResult: Bool { (self as? any ReportingCommand)?.printsResult ?? true }
}
