package import CommandLineSupport
internal import Foundation

/// A page of the documentation, and the code in it.
package struct DocumentedPage: Sendable {
  /// The Markdown text; empty if the page does not exist.
  package let text: String
  /// The words in code: in backticks or in a block.
  package let codeWords: Set<String>

  /// Reads a page of the folder `docs`, and all pages of a folder below it.
  package init(_ name: String, withPagesIn folder: String? = nil) {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let docs = root.appending(path: "docs")
    let others = folder.map { folder in
      let names = try? FileManager.default.contentsOfDirectory(
        atPath: docs.appending(path: folder).path
      )
      return (names ?? []).filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
    }
    text = ([name] + (others ?? []))
      .map { (try? String(contentsOf: docs.appending(path: $0), encoding: .utf8)) ?? "" }
      .joined(separator: "\n")
    let blocks = text.split(separator: "```", omittingEmptySubsequences: false)
    var words: Set<String> = []
    for (index, block) in blocks.enumerated() {
      let codes =
        index % 2 == 1
        ? [block]
        : block.split(separator: "`", omittingEmptySubsequences: false).enumerated()
          .filter { $0.offset % 2 == 1 }.map(\.element)
      for code in codes {
        words.formUnion(code.split { " \n,|\\[]=('\"".contains($0) }.map(String.init))
      }
    }
    codeWords = words
  }

  /// Returns the words that the page must have for a command, and does not: its name and options.
  package func missing(of command: CommandInfo) -> [String] {
    let options = command.visibleArguments.filter { $0.preferredName?.name != "help" }
    return ([command.commandName] + options.flatMap(\.spellings)).filter { !codeWords.contains($0) }
  }

  /// Returns the options that the page names, and no command has.
  package func unknownOptions(of commands: [CommandInfo], except others: Set<String>) -> [String] {
    let options = Set(commands.flatMap { $0.arguments ?? [] }.flatMap(\.spellings))
    return codeWords.filter { $0.hasPrefix("--") && $0.count > 2 }
      .subtracting(options).subtracting(others).sorted()
  }
}

/// The words of a command line, split as a shell splits it at spaces that are not in single quotes.
package func shellWords(_ line: String) -> [String] {
  var words: [String] = []
  for (index, part) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
    if index % 2 == 1 {
      words.append(String(part))
    } else {
      words += part.split(separator: " ").map(String.init)
    }
  }
  return words
}
