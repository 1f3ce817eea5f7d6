internal import ArgumentParser
internal import CommandLineSupport

/// The options of commands that delete or restart downloads.
struct ConfirmationOptions: ParsableArguments {
  @Flag(help: "Print what would be done, and do nothing.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not prompt.")
  var yes = false

  /// Asks on the terminal.
  ///
  /// - Parameter question: The question, without the possible answers.
  /// - Returns: Whether the user agrees.
  static func asks(_ question: String) -> Bool {
    Output.current.draw("\(question) [y/N] ")
    let answer = readLine()?.lowercased() ?? ""
    return answer == "y" || answer == "yes"
  }
}
