internal import ArgumentParser
internal import Foundation

/// How text is adapted to its destination.
package struct TerminalStyle: Sendable, Equatable {
  /// The width of the terminal in columns; `nil` for a file or a pipe.
  package var width: Int?
  /// Whether text is colored.
  package var isColored = false
  /// Whether the destination is a terminal that understands cursor movements.
  package var isInteractive = false

  package init(width: Int? = nil, isColored: Bool = false, isInteractive: Bool = false) {
    self.width = width
    self.isColored = isColored
    self.isInteractive = isInteractive
  }

  /// The style of a standard descriptor.
  package init(of terminal: Terminal, color: ColorChoice) {
    width = terminal.width
    isColored = color.isColored(
      isTerminal: terminal.isTerminal,
      environment: ProcessInfo.processInfo.environment
    )
    isInteractive = terminal.isInteractive
  }
}

/// When output is colored.
package enum ColorChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
  case auto
  case always
  case never

  /// Decides whether text is colored.
  ///
  /// The first rule that applies decides:
  ///
  /// 1. `always` and `never`.
  /// 2. `NO_COLOR`, unless empty: no (https://no-color.org).
  /// 3. `CLICOLOR_FORCE`, unless empty or `0`: yes.
  /// 4. `TERM=dumb`: no.
  /// 5. Only a terminal is colored.
  package func isColored(isTerminal: Bool, environment: [String: String]) -> Bool {
    func isSet(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
    switch self {
    case .always: return true
    case .never: return false
    case .auto: break
    }
    if isSet("NO_COLOR") { return false }
    if isSet("CLICOLOR_FORCE"), environment["CLICOLOR_FORCE"] != "0" { return true }
    return isTerminal && environment["TERM"] != "dumb"
  }
}

/// A color or weight of text, from the terminal's own palette.
package enum TerminalColor: Int, Sendable {
  case bold = 1
  case dim = 2
  case red = 31
  case green = 32
  case yellow = 33
  case magenta = 35
  case cyan = 36

  /// Returns the text in this color, followed by the default one.
  package func applied(to text: String) -> String {
    "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
  }
}
