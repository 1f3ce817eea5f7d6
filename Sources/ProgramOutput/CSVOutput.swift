/// Comma-separated values (RFC 4180), with lines that end in a line feed only.
///
/// Cells hold their text exactly, for programs to read. On a terminal, control characters are
/// replaced, as `ls` does (decision 0023).
package enum CSVOutput {
  /// Returns one line without its line feed.
  package static func line(_ cells: [String], onTerminal: Bool = false) -> String {
    cells.map { quoted(onTerminal ? TerminalText.safe($0) : $0) }.joined(separator: ",")
  }

  private static func quoted(_ cell: String) -> String {
    // Not characters: CR LF is a single one, and so are a quote and a following combining mark.
    let needsQuotes = cell.utf8.contains {
      $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D || $0 == 0x20
    }
    guard needsQuotes else { return cell }
    let parts = cell.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
    return "\"" + parts.map { String($0) }.joined(separator: "\"\"") + "\""
  }
}
