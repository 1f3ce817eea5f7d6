internal import CommandLineSupport
internal import DownloadStore

extension TerminalColor {
  /// Returns the color of a state; `nil` for `waiting` and unknown words.
  static func ofState(_ word: String) -> TerminalColor? {
    switch word {
    case DownloadState.running.word: .cyan
    case DownloadState.finalizing.word: .magenta
    case DownloadState.paused.word: .yellow
    case DownloadState.completed.word: .green
    case DownloadState.failedPermanent.word: .red
    case DownloadState.cancelled.word: .dim
    default: nil
    }
  }
}
