/// Words of a shell command that a message shows.
package enum ShellWord {
  /// Returns a word as the user writes it in a shell.
  ///
  /// A word with other characters than those of most paths is put into double quotation marks,
  /// because messages put the whole command into single ones.
  package static func quoted(_ word: String) -> String {
    let isPlain = word.allSatisfy { $0.isLetter || $0.isNumber || "-_./:=,+@%".contains($0) }
    guard word.isEmpty || !isPlain else { return word }
    var text = ""
    for character in word {
      switch character {
      case "\"", "\\", "$", "`": text += "\\\(character)"
      // Within quotation marks, the shell keeps the backslash before an exclamation mark.
      case "!": text += "\"\\!\""
      default: text.append(character)
      }
    }
    return "\"\(text)\""
  }
}
