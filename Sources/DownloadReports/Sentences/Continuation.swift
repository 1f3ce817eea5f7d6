package import DownloadStore

/// What makes a download that is not complete go on.
package enum Continuation: Sendable, Hashable {
  /// An engine; no command is needed.
  case engine
  /// A command to the download.
  case command(DownloadCommand)
  /// Adding the URL again: the download is being removed.
  case addition
}

extension DownloadRecord {
  /// What makes the download go on; `nil` if it is complete.
  ///
  /// A command that the state machine ignores in the position of the download is never named.
  package var continuation: Continuation? {
    guard state != .completed else { return nil }
    guard !mayStart, intent != .run || !state.isDownloading else { return .engine }
    let commands: [DownloadCommand] = [.resume(immediately: false), .restart]
    return commands.first(where: isChanged).map(Continuation.command) ?? .addition
  }

  /// The command line after which the download goes on, in quotation marks; `nil` if it is complete.
  package var continuingCommand: String? {
    continuation.map { continuation in
      switch continuation {
      case .engine: SuggestedCommand.text("run")
      case .command(.restart): SuggestedCommand.text("restart \(id)")
      case .command: SuggestedCommand.text("resume \(id)")
      case .addition: SuggestedCommand.text("get URL")
      }
    }
  }

  private func isChanged(by command: DownloadCommand) -> Bool {
    var record = self
    return (try? record.apply(.command(command), at: updatedAt))?.hasChanged ?? false
  }
}
