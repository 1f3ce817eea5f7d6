/// The discussion of a command: paragraphs, and lines of examples after the title `EXAMPLES:`.
package struct HelpText {
  /// The paragraphs, each on one line.
  package let paragraphs: [String]
  /// The command lines, without indentation.
  package let examples: [String]

  /// Parses the discussion of a command's configuration.
  package init(_ discussion: String) {
    var paragraphs: [[Substring]] = [[]]
    var examples: [String] = []
    var isInExamples = false
    for line in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.trimmingPrefix { $0 == " " }
      if text == "EXAMPLES:" {
        isInExamples = true
      } else if isInExamples {
        if !text.isEmpty { examples.append(String(text)) }
      } else if text.isEmpty {
        paragraphs.append([])
      } else {
        paragraphs[paragraphs.count - 1].append(text)
      }
    }
    self.paragraphs = paragraphs.filter { !$0.isEmpty }.map { $0.joined(separator: " ") }
    self.examples = examples
  }
}
