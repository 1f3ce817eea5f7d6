/// Comma-separated values as RFC 4180 has them, but for lines that end in a line feed alone.
///
/// Cells hold their text exactly, because programs read them. On a terminal, characters that could
/// steer it are replaced, as `ls` does (decision 0023).
enum CSVOutput {
  /// One line, without its end.
  static func line(_ cells: [String], onTerminal: Bool = false) -> String {
    cells.map { quoted(onTerminal ? TerminalText.safe($0) : $0) }.joined(separator: ",")
  }

  private static func quoted(_ cell: String) -> String {
    // Bytes, because a carriage return and a line feed are one character.
    let needsQuotes = cell.utf8.contains {
      $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D || $0 == 0x20
    }
    guard needsQuotes else { return cell }
    return "\"" + cell.replacing("\"", with: "\"\"") + "\""
  }
}
