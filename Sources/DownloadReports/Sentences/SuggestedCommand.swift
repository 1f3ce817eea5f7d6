internal import DownloadStore
internal import ProgramOutput

/// Commands of `dlstore` in messages, which work when they are copied.
package enum SuggestedCommand {
  /// Returns a command in single quotation marks, such as `'dlstore resume 8c2b47 --store /data'`.
  ///
  /// - Parameter words: The words after the program's name; a value that may need it is quoted with
  ///   ``ShellWord``.
  /// - Returns: The command, with the options of the user's command that name the store and the
  ///   configuration file.
  package static func text(_ words: String) -> String {
    "'dlstore \(words)\(Output.current.program.repeatedOptions)'"
  }

  /// Puts a whole command line into single quotation marks.
  ///
  /// - Parameter arguments: The arguments without the program's name.
  /// - Returns: The command; `nil` if it has a secret.
  package static func line(_ arguments: [String]) -> String? {
    // Messages name the store in any case.
    let isPath = [false] + arguments.dropLast().map(options.contains)
    guard zip(arguments, isPath).allSatisfy({ $1 || Redaction.argument($0) == $0 }) else {
      return nil
    }
    return "'\((["dlstore"] + arguments.map(ShellWord.quoted)).joined(separator: " "))'"
  }

  /// Finds the options of a command line that each command in a message repeats: `--store` and
  /// `--config`.
  ///
  /// - Parameter arguments: The arguments without the program's name.
  /// - Returns: The options, with a space before each.
  package static func repeatedOptions(of arguments: [String]) -> String {
    var values: [String: String] = [:]
    var rest = arguments.prefix { $0 != "--" }
    while let word = rest.popFirst() {
      for name in options {
        if word == name {
          values[name] = rest.popFirst()
        } else if word.hasPrefix("\(name)=") {
          values[name] = String(word.dropFirst(name.count + 1))
        }
      }
    }
    return options.compactMap { name in
      values[name].map { " \(name) \(ShellWord.quoted($0))" }
    }
    .joined()
  }

  private static let options = ["--store", "--config"]
}
