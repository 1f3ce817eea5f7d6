/// The messages of the argument parser, in the words of the tool.
package enum ParserMessage {
  /// Returns a message with a shorter and clearer first line if it is about the value of an option.
  ///
  /// The parser says which value is invalid for which option, but not what is valid, unless the
  /// option has a reason of its own. Then both say the same.
  package static func plain(_ message: String) -> String {
    let lines = message.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = lines.first, let line = plain(line: first) else { return message }
    return ([line] + lines.dropFirst().map(String.init)).joined(separator: "\n")
  }

  /// Returns a message with the value that the parser has taken for an option, as in `--timeout -1`.
  package static func naming(_ arguments: [String], in message: String) -> String {
    let start = "Error: Missing value for '"
    guard message.hasPrefix(start) else { return message }
    let option = String(message.dropFirst(start.count).prefix { $0 != " " && $0 != "'" })
    guard let value = arguments.drop(while: { $0 != option }).dropFirst().first else {
      return message
    }
    let lines = message.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    let reason =
      Double(value) == nil
      ? "is not a value, because it begins with a hyphen" : "must not be negative"
    let line = "Error: \(option): '\(value)' \(reason)."
    return ([line] + lines.dropFirst().map(String.init)).joined(separator: "\n")
  }

  /// Returns a reason of the parser, without `Error: ` in front of it, in the words of the tool.
  ///
  /// For a setting, whose name stands before it: the name of the option is omitted.
  package static func plain(reason: String) -> String {
    let start = "Error: "
    let message = plain(start + reason)
    guard message != start + reason else { return reason }
    let text = message.dropFirst(start.count)
    return text.firstRange(of: ": ").map { String(text[$0.upperBound...]) } ?? String(text)
  }

  /// The first line: `Error: The value 'x' is invalid for '--limit-rate <bytes/s>': the reason`.
  private static func plain(line: Substring) -> String? {
    let start = "Error: The value '"
    let middle = "' is invalid for '"
    guard line.hasPrefix(start), let split = line.firstRange(of: middle),
      let end = line[split.upperBound...].firstIndex(of: "'")
    else { return nil }
    let value = line[line.index(line.startIndex, offsetBy: start.count)..<split.lowerBound]
    let words = line[split.upperBound..<end].split(separator: " ", maxSplits: 1)
    let rest = line[line.index(after: end)...]
    guard let option = words.first, option.hasPrefix("-") else {
      return expectation(line[split.upperBound..<end]).map {
        "Error: '\(value)' is not \($0).\(rest)"
      }
    }
    if rest.hasPrefix(": ") { return "Error: \(option): \(rest.dropFirst(2))" }
    if rest.hasPrefix(". Please provide one of ") {
      let names = rest.dropFirst(". Please provide one of ".count)
      return "Error: \(option): '\(value)' is not one of \(names)"
    }
    guard rest.isEmpty || rest.hasPrefix(" ") else { return nil }
    return expectation(words.last ?? "").map { "Error: \(option): '\(value)' is not \($0).\(rest)" }
  }

  /// What a value with a name must be; `nil` if the name does not say it.
  private static func expectation(_ name: Substring) -> String? {
    switch name {
    case "<duration>": "a duration such as 30s, 5m or 2h"
    case "<bytes/s|none>": "a number of bytes such as 500K, 1.5M or 2MiB, or none"
    default: nil
    }
  }
}
