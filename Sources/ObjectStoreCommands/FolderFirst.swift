/// Moves the folder behind the name of the command, where the parser expects it.
///
/// Pure, but for the question whether a word is a folder.
enum FolderFirst {
  /// Returns the arguments with the command first: `notes query Note` is `query notes Note`.
  ///
  /// The first word is the command if it is the name of one. Otherwise it is the folder, and the next
  /// word is the command; without a next word, the models are listed.
  ///
  /// - Parameters:
  ///   - words: The arguments without the program's name.
  ///   - commands: The names of the commands.
  ///   - isFolder: Whether a word is the path of a folder, to find out which of two words that name
  ///     no command was meant as one.
  /// - Returns: The arguments for the parser.
  static func arranged(
    _ words: [String],
    commands: Set<String>,
    isFolder: (String) -> Bool
  ) -> [String] {
    guard let first = words.first, !first.hasPrefix("-"), !commands.contains(first) else {
      return words
    }
    guard words.count > 1, !words[1].hasPrefix("-") else { return ["models"] + words }
    let command = words[1]
    // Then the first word is a mistyped command.
    guard commands.contains(command) || isFolder(first) || !isFolder(command) else { return words }
    return [command, first] + words.dropFirst(2)
  }
}
