/// Lines of output that are written together, so that a million lines cost few system calls.
package struct BufferedLines {
  private static let limit = 1 << 16

  private var text = ""

  /// Creates an empty buffer.
  package init() {}

  /// Appends a line, with control characters replaced.
  ///
  /// - Throws: As ``Output/write(_:)``.
  package mutating func append(_ line: String) throws {
    text += TerminalText.safe(line)
    text += "\n"
    if text.utf8.count >= Self.limit { try flush() }
  }

  /// Writes the lines so far.
  ///
  /// - Throws: As ``Output/write(_:)``.
  package mutating func flush() throws {
    guard !text.isEmpty else { return }
    try Output.current.write(text)
    text.removeAll(keepingCapacity: true)
  }
}
