internal import ArgumentParser
internal import CommandLineSupport

/// The option of commands that change downloads and print what they have changed.
struct QuietOption: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Print errors only.")
  var quiet = false

  /// Writes the report of a change that has been committed.
  ///
  /// - Throws: As `Output.report(_:)`.
  func report(_ text: String) throws {
    if !quiet { try Output.current.report(text) }
  }

  /// Writes a message that is no error.
  func say(_ message: String) {
    if !quiet { Output.current.say(message) }
  }
}
