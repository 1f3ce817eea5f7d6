internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore

extension DownloadRecord {
  /// Why the whole file of a download cannot be read, and what the user can do.
  var incompleteText: String {
    let name = TerminalText.safe(filename)
    let state = state.word(engineRuns: true)
    switch self.state {
    case .failedPermanent, .paused:
      return
        "\(name) is not complete (\(state)): \(SuggestedCommand.text("resume \(id)")) continues it"
    case .cancelled, .removed:
      return
        "\(name) is not complete (\(state)): \(SuggestedCommand.text("restart \(id)")) downloads it"
    case _ where hasPreviousFile:
      return
        "\(name) is not checked: a new file is to replace it, which \(SuggestedCommand.text("run")) "
        + "continues"
    case .waiting, .running, .failedRetryable, .finalizing, .completed:
      return "\(name) is not complete yet (\(state)): \(SuggestedCommand.text("run")) downloads it"
    }
  }
}
