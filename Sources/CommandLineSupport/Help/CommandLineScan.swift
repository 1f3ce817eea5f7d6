package import ArgumentParser

/// The command and the options that a command line names, found before it is parsed.
///
/// The configuration adds options to the command line and needs to know where, and which options
/// the user has already given. Errors are left to the parser.
package struct CommandLineScan {
  /// The named command; the root command if none is named.
  package private(set) var command: any ParsableCommand.Type
  /// The names by which the command is called, without the program's.
  package private(set) var names: [String] = []
  /// The arguments that the command accepts.
  package private(set) var arguments: [ArgumentInfo]
  /// The index after the command's name.
  package private(set) var endOfName = 0
  /// The values of each option on the command line, by its spelling; of a flag, none.
  package private(set) var given: [String: [String]] = [:]
  /// A word in the place of a command's name that names no command.
  package private(set) var unknownCommand: String?

  /// The words by which a user asks for help or a script; the command is not run.
  static let requests: Set = [
    "-h", "-help", "--help", "--help-hidden", "--version", "help", "--experimental-dump-help",
    "--generate-completion-script",
  ]

  /// Scans the arguments without the program's name.
  package init(
    _ words: [String],
    root: any ParsableCommand.Type,
    options: [any ParsableArguments.Type]
  ) {
    command = root
    arguments = options.flatMap { CommandInfo(of: $0).arguments ?? [] }
    var index = 0
    while index < words.count, words[index] != "--" {
      let word = words[index]
      index += 1
      guard word.hasPrefix("-"), word != "-" else {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty else { continue }
        guard let named = subcommands.first(where: { Self.names(of: $0).contains(word) }) else {
          // After an unknown option, the word may be its value.
          let known = arguments.flatMap(\.spellings)
          let isAfterUnknown = given.keys.contains { !known.contains($0) }
          if !isAfterUnknown, !Self.requests.contains(word) { unknownCommand = word }
          return
        }
        command = named
        names.append(word)
        arguments = CommandInfo(of: named).arguments ?? []
        endOfName = index
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      var values = parts.count == 2 ? [String(parts[1])] : []
      let argument = arguments.first { $0.spellings.contains(name) }
      if argument?.kind == .option, values.isEmpty, index < words.count {
        values = [words[index]]
        index += 1
      }
      given[name, default: []] += values
    }
  }

  /// Whether the words ask for help, the version or a completion, and run no command.
  package static func isRequest(_ words: [String]) -> Bool {
    words.first?.hasPrefix("---") == true || words.first == "help"
      || words.prefix { $0 != "--" }.contains { word in
        word.hasPrefix("-") && requests.contains(String(word.prefix { $0 != "=" }))
      }
  }

  /// The names of the commands that could replace the unknown word.
  package var commandNames: [String] {
    command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap(Self.names)
  }

  /// The message for a word in the place of a command's name; `nil` if there is none.
  package var unknownCommandMessage: String? {
    guard let word = unknownCommand else { return nil }
    let name = (names + [word]).joined(separator: " ")
    return "There is no command '\(name)'.\(Suggestion.text(for: word, among: commandNames))"
  }

  /// Returns a message of the parser, with a suggestion for a mistyped value of an option.
  ///
  /// The parser suggests options, but neither commands nor values.
  package func suggesting(_ message: String) -> String {
    var lines = message.split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
    for argument in arguments {
      guard let values = argument.allValues,
        let word = argument.spellings.compactMap({ given[$0]?.last }).last,
        !values.contains(word), lines[0].contains("'\(word)'")
      else { continue }
      lines[0] += Suggestion.text(for: word, among: values)
    }
    return lines.joined(separator: "\n")
  }

  private static func names(of command: any ParsableCommand.Type) -> [String] {
    [command.configuration.commandName ?? ""] + command.configuration.aliases
  }
}
