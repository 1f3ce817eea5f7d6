internal import SystemInterface

/// One line on the terminal that is redrawn while a command works; nothing without a terminal.
package struct StatusLine {
  private let isShown = Terminal.messages.isInteractive

  /// Creates a line that is not shown yet.
  package init() {}

  /// Replaces the line.
  package func show(_ text: String) {
    guard isShown else { return }
    let width = Terminal.messages.width ?? 80
    Output.current.draw("\r" + TerminalText.truncated(text, to: width - 1) + Terminal.clearLine)
  }

  /// Removes the line.
  package func clear() {
    guard isShown else { return }
    Output.current.draw("\r" + Terminal.clearLine)
  }
}
