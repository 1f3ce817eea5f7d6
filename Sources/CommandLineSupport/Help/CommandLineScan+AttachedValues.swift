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
  /// Returns the unknown short option with which a word of several letters begins, such as `-x` of
  /// `-xhttp://h:1`; `nil` if there is none.
  ///
  /// The parser takes the letters for several options, and one of them for `-h`.
  ///
  /// - Parameter words: The scanned words.
  /// - Returns: The option with its dash.
  package func unknownShortOption(in words: [String]) -> String? {
    let known = Set(arguments.flatMap(\.spellings)).union(Self.requests)
    let options = Set(arguments.filter { $0.kind == .option }.flatMap(\.spellings))
    var rest = words.dropFirst(endOfName).prefix { $0 != "--" }
    while let word = rest.popFirst() {
      if options.contains(word) {
        rest = rest.dropFirst()
        continue
      }
      guard word.count > 2, word.hasPrefix("-"), !word.hasPrefix("--") else { continue }
      let name = String(word.prefix(2))
      guard name.last?.isLetter == true, !known.contains(name), !known.contains(word) else {
        continue
      }
      return name
    }
    return nil
  }
}
