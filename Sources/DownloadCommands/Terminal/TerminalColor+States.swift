internal import CommandLineSupport
internal import DownloadStore

extension TerminalColor {
  /// Returns the color of a state; `nil` for `waiting` and unknown words.
  static func ofState(_ word: String) -> TerminalColor? {
    switch word {
    case "running": .cyan
    case "finalizing": .magenta
    case "paused", "retrying": .yellow
    case "completed": .green
    case "failed": .red
    case "cancelled": .dim
    default: nil
    }
  }
}
