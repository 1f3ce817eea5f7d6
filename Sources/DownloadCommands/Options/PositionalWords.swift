internal import CommandLineSupport

/// The positional words of a command line, such as thousands of URLs.
///
/// For each positional word, the parser copies all words before it. So the parser gets many words as one,
/// and the command splits them.
enum PositionalWords {
  /// The number of words up to which a command line is left as it is.
  static let longestLine = 64

  /// Joins successive positional words.
  ///
  /// A word that may be an option, and the word after it, stay as they are.
  ///
  /// - Parameter words: The words after the program's name.
  /// - Returns: The words for the parser.
  static func joined(_ words: [String]) -> [String] {
    guard words.count > longestLine else { return words }
    let scan = DLStoreCommand.scan(words)
    guard scan.arguments.contains(where: { $0.kind == .positional && $0.isRepeating }) else {
      return words
    }
    var result = Array(words.prefix(scan.endOfName))
    var run: [String] = []
    func endRun() {
      // No argument of a process contains a zero byte.
      if !run.isEmpty { result.append(run.joined(separator: "\0")) }
      run = []
    }
    var mayBeValue = false
    var isTerminated = false
    for word in words.dropFirst(scan.endOfName) {
      let mayBeOption = word.hasPrefix("-") && !isTerminated
      if mayBeOption || mayBeValue {
        endRun()
        result.append(word)
      } else {
        run.append(word)
      }
      isTerminated = isTerminated || word == "--"
      mayBeValue = mayBeOption && !isTerminated
    }
    endRun()
    return result
  }

  /// Returns the words that ``joined(_:)`` has joined.
  static func split(_ word: String) -> [String] {
    word.utf8.split(separator: 0, omittingEmptySubsequences: false).map { String(Substring($0)) }
  }
}
