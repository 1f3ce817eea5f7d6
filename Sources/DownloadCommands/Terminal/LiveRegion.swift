internal import CommandLineSupport

/// A line of a terminal, and its width without escape sequences.
struct ScreenLine: Sendable, Equatable {
  var text: String
  var width: Int

  /// Creates a line; `width` is that of the text by default.
  init(_ text: String, width: Int? = nil) {
    self.text = text
    self.width = width ?? TerminalText.width(text)
  }
}

/// Lines above the cursor that are redrawn in place, while other lines scroll past above them.
///
/// Pure: returns the bytes to write. A frame is one write, contains only changed lines, and is a
/// synchronized update on terminals that support it; other terminals ignore those two sequences.
struct LiveRegion: Sendable {
  private var drawn: [ScreenLine] = []
  private var columns = 0
  private var isCursorHidden = false

  /// Returns the next frame; empty if nothing has changed.
  ///
  /// - Parameters:
  ///   - lines: The lines of the region. They must fit on the screen, because a line that has
  ///     scrolled off it cannot be redrawn.
  ///   - printed: Lines to print above the region.
  ///   - columns: The current width of the terminal.
  ///   - reflows: Whether the terminal wraps existing lines when it becomes narrower.
  /// - Returns: The bytes to write to the terminal.
  mutating func frame(
    _ lines: [ScreenLine],
    printing printed: [String] = [],
    columns: Int,
    reflows: Bool = true
  ) -> String {
    let isResized = columns != self.columns && !drawn.isEmpty
    guard lines != drawn || !printed.isEmpty || isResized else { return "" }
    let rows = reflows ? drawn.reduce(0) { $0 + Self.rows(of: $1, columns) } : drawn.count
    var frame = Terminal.up(rows)
    for line in printed { frame += line + Terminal.clearLine + "\n" }
    let keepsPlace = printed.isEmpty && !isResized
    for (index, line) in lines.enumerated() {
      if keepsPlace, index < drawn.count, drawn[index] == line {
        frame += "\n"
      } else {
        // Cleared first: a line may skip columns.
        frame += Terminal.clearLine + line.text + Terminal.clearLine + "\n"
      }
    }
    if !keepsPlace || lines.count < drawn.count { frame += Terminal.clearBelow }
    if !isCursorHidden { frame = Terminal.hideCursor + frame }
    isCursorHidden = true
    drawn = lines
    self.columns = columns
    return Terminal.synchronized(frame)
  }

  /// Returns the bytes that erase the region and show the cursor; empty if nothing was drawn.
  ///
  /// The next frame begins at the cursor.
  mutating func erase(columns: Int, reflows: Bool = true) -> String {
    guard isCursorHidden else { return "" }
    let frame = frame([], columns: columns, reflows: reflows)
    isCursorHidden = false
    return frame + Terminal.showCursor
  }

  /// The number of rows that a drawn line occupies on a terminal that wraps existing lines.
  private static func rows(of line: ScreenLine, _ columns: Int) -> Int {
    max(1, (line.width + columns - 1) / max(1, columns))
  }
}

/// A screen of lines that replaces the terminal's contents until it is closed.
///
/// Pure: returns the bytes to write. It uses the alternate screen, so closing it restores the
/// previous contents. A frame contains only changed lines.
struct FullScreen: Sendable {
  private var drawn: [ScreenLine]?
  private var size: (columns: Int, lines: Int) = (0, 0)
  private var isOpen = false

  /// Whether the last frame was drawn for a terminal of this size, and is still shown.
  func shows(_ size: (columns: Int, lines: Int)) -> Bool {
    drawn != nil && size == self.size
  }

  /// Returns the next frame; empty if nothing has changed.
  mutating func frame(_ lines: [ScreenLine], size: (columns: Int, lines: Int)) -> String {
    let isSameSize = size == self.size
    let drawn = isSameSize ? drawn : nil
    guard lines != drawn else { return "" }
    var frame = isOpen ? "" : Terminal.enterAlternateScreen + Terminal.hideCursor
    if drawn == nil { frame += Terminal.home + Terminal.clearBelow }
    for (index, line) in lines.enumerated() {
      if let drawn, index < drawn.count, drawn[index] == line { continue }
      frame += Terminal.row(index + 1) + Terminal.clearLine + line.text
    }
    if let drawn, lines.count < drawn.count {
      frame += Terminal.row(lines.count + 1) + Terminal.clearBelow
    }
    isOpen = true
    self.drawn = lines
    self.size = size
    return Terminal.synchronized(frame)
  }

  /// Returns the bytes that restore the terminal; empty if nothing was drawn.
  mutating func close() -> String {
    guard isOpen else { return "" }
    isOpen = false
    drawn = nil
    return Terminal.showCursor + Terminal.leaveAlternateScreen
  }
}
