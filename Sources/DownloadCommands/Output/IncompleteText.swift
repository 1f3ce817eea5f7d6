internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore

extension DownloadRecord {
  /// Why the whole file of a download cannot be read, and what the user can do.
  var incompleteText: String {
    let name = TerminalText.safe(filename)
    let word = state.word(engineRuns: true)
    guard let continuation, let command = continuingCommand else { return "\(name) is \(word)" }
    switch continuation {
    case .engine where hasPreviousFile:
      return "\(name) is not checked: a new file is to replace it, which \(command) continues"
    case .engine: return "\(name) is not complete yet (\(word)): \(command) downloads it"
    case .command(.restart), .addition:
      return "\(name) is not complete (\(word)): \(command) downloads it"
    case .command: return "\(name) is not complete (\(word)): \(command) continues it"
    }
  }
}
