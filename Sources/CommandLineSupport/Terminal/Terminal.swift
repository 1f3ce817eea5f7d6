internal import Foundation
internal import SystemInterface

/// A standard descriptor that may be a terminal.
package struct Terminal: Sendable {
  package static let input = Terminal(descriptor: STDIN_FILENO)
  package static let output = Terminal(descriptor: STDOUT_FILENO)
  package static let messages = Terminal(descriptor: STDERR_FILENO)

  package static let hideCursor = "\u{1B}[?25l"
  package static let showCursor = "\u{1B}[?25h"
  package static let clearBelow = "\u{1B}[J"
  package static let clearLine = "\u{1B}[K"
  package static let home = "\u{1B}[H"

  package static let enterAlternateScreen = "\u{1B}[?1049h"
  package static let leaveAlternateScreen = "\u{1B}[?1049l"

  package let descriptor: Int32

  /// Returns a frame that a terminal with synchronized updates shows in one step.
  package static func synchronized(_ frame: String) -> String {
    "\u{1B}[?2026h\(frame)\u{1B}[?2026l"
  }

  /// The sequence that moves the cursor up by `lines`, to the first column.
  package static func up(_ lines: Int) -> String {
    lines > 0 ? "\u{1B}[\(lines)A\r" : "\r"
  }

  /// The sequence that moves the cursor to the first column of a row, counted from 1.
  package static func row(_ row: Int) -> String {
    "\u{1B}[\(row);1H"
  }

  /// The sequence that moves the cursor to a column, counted from 1.
  package static func column(_ column: Int) -> String {
    "\u{1B}[\(column)G"
  }

  /// Whether the descriptor is a terminal.
  package var isTerminal: Bool { !Self.isDetached && isatty(descriptor) == 1 }

  /// Whether the current command is run for another process, so that the terminal of this one does not
  /// concern it.
  @TaskLocal package static var isDetached = false

  /// Whether the descriptor is a terminal that understands escape sequences.
  package var isInteractive: Bool {
    isTerminal && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// Whether this process may draw on the terminal: it is no background job of a shell.
  package var isInForeground: Bool {
    let group = tcgetpgrp(descriptor)
    // Fails if it is not the controlling terminal, which has no jobs then.
    return group < 0 || group == getpgrp()
  }

  /// Whether the terminal wraps the lines that it shows when it becomes narrower.
  ///
  /// Most do; xterm and the Linux console cut them.
  package static let reflows: Bool = {
    let environment = ProcessInfo.processInfo.environment
    guard environment["TMUX"] == nil else { return true }
    return environment["XTERM_VERSION"] == nil && environment["TERM"] != "linux"
  }()

  /// The width in columns; `nil` if it is not a terminal.
  package var width: Int? {
    guard isTerminal else { return nil }
    return size.columns
  }

  /// The size, or 80 × 24 if it is not known.
  package var size: (columns: Int, lines: Int) {
    let size = terminalSize(descriptor) ?? winsize()
    return (
      columns: size.ws_col > 0 ? Int(size.ws_col) : 80,
      lines: size.ws_row > 0 ? Int(size.ws_row) : 24
    )
  }

  /// Whether the reader of the pipe has closed it.
  package var hasLostReader: Bool {
    var status = pollfd(fd: descriptor, events: 0, revents: 0)
    guard poll(&status, 0) > 0 else { return false }
    return status.revents & Int16(POLLERR | POLLNVAL) != 0
  }
}
