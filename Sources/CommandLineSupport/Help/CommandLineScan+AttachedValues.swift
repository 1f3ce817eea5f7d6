extension CommandLineScan {
  /// Whether a word may be a short option with its value.
  ///
  /// Otherwise the parser need not describe the options, which takes about 15 ms in a debug build.
  package static func mayHaveAttachedValues(_ words: [String]) -> Bool {
    words.contains { $0.utf8.count > 2 && $0.hasPrefix("-") && !$0.hasPrefix("--") }
  }

  /// Returns the words of the command line, with each value that is attached to a short option, as in
  /// `-j2`, as a word of its own.
  ///
  /// The parser accepts only the latter. Words after `--`, and values of other options, are kept.
  ///
  /// - Parameter words: The scanned words.
  /// - Returns: The words for the parser.
  package func separatingValues(in words: [String]) -> [String] {
    let options = Set(arguments.filter { $0.kind == .option }.flatMap(\.spellings))
    var result = Array(words.prefix(endOfName))
    var rest = words.dropFirst(endOfName)
    while let word = rest.popFirst() {
      let name = String(word.prefix(2))
      if word == "--" {
        return result + [word] + rest
      } else if options.contains(word) {
        result += [word] + rest.prefix(1)
        rest = rest.dropFirst()
      } else if name != "--", name.hasPrefix("-"), word.count > 2, options.contains(name),
        !word.dropFirst(2).hasPrefix("=")
      {
        result += [name, String(word.dropFirst(2))]
      } else {
        result.append(word)
      }
    }
    return result
  }
}
