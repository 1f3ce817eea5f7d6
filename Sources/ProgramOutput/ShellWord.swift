/// Words of a shell command that a message shows.
package enum ShellWord {
  /// Returns a word as the user writes it in a shell.
  ///
  /// A word with other characters than those of most paths is put into double quotation marks,
  /// because messages put the whole command into single ones.
  package static func quoted(_ word: String) -> String {
    // Scalars, not characters: a quotation mark and a following combining mark are one character.
    let isPlain = word.unicodeScalars.allSatisfy { scalar in
      scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        || "-_./:=,+@%".unicodeScalars.contains(scalar)
    }
    guard word.isEmpty || !isPlain else { return word }
    var text = String.UnicodeScalarView()
    for scalar in word.unicodeScalars {
      switch scalar {
      case "\"", "\\", "$", "`": text += ["\\", scalar]
      // Within quotation marks, the shell keeps the backslash before an exclamation mark.
      case "!": text += ["\"", "\\", "!", "\""]
      default: text.append(scalar)
      }
    }
    return "\"\(String(text))\""
  }
}
