internal import DownloadStore

/// A command that a page offers for downloads.
enum RowCommand: String, Sendable, Hashable, CaseIterable {
  case pause, resume, now, cancel, restart

  /// The command as the store takes it.
  var command: DownloadCommand {
    switch self {
    case .pause: .pause
    case .resume: .resume(immediately: false)
    case .now: .resume(immediately: true)
    case .cancel: .cancel
    case .restart: .restart
    }
  }

  var icon: Icon {
    switch self {
    case .pause: .paused
    case .resume: .play
    case .now: .now
    case .cancel: .cancelled
    case .restart: .retrying
    }
  }

  /// The label of a button.
  var title: String {
    switch self {
    case .pause: "Pause"
    case .resume: "Resume"
    case .now: "Start now"
    case .cancel: "Cancel"
    case .restart: "Restart from zero"
    }
  }

  /// The label of a button for one download.
  func title(for record: DownloadRecord) -> String {
    switch (self, record.state) {
    case (.resume, .failedPermanent): "Retry"
    case (.resume, .failedRetryable): "Retry now"
    case (.restart, .completed), (.restart, .cancelled): "Download again"
    default: title
    }
  }

  /// The past participle, for the sentence about what happened.
  var participle: String {
    switch self {
    case .pause: "Paused"
    case .resume: "Resumed"
    case .now: "Put first"
    case .cancel: "Cancelled"
    case .restart: "Restarted"
    }
  }

  /// The command that takes this one back, and the label of its button; `nil` if none does.
  var undo: (command: RowCommand, title: String)? {
    switch self {
    case .pause: (.resume, "Undo: resume")
    case .resume, .now: (.pause, "Undo: pause")
    // The bytes are deleted.
    case .cancel: (.restart, "Undo: download from zero")
    case .restart: nil
    }
  }

  /// Whether the command changes a download.
  func applies(to record: DownloadRecord) -> Bool {
    let status = DownloadStatus(record.state, record.intent)
    let kind = DownloadRecord.Event.command(command).kind
    guard case .becomes(let new) = TransitionTable.entry(for: kind, in: status) else {
      return false
    }
    switch self {
    case .now:
      return !record.startsImmediately && record.state != .running && record.state != .finalizing
    case .resume: return new != status || record.isHeld
    case .restart: return record.state != .waiting || record.received > 0
    case .pause, .cancel: return new != status
    }
  }

  /// The commands for a download: the likeliest first.
  static func commands(for record: DownloadRecord) -> [RowCommand] {
    let order: [RowCommand] =
      switch record.state {
      case .failedRetryable, .failedPermanent, .paused: [.resume, .now, .pause, .restart, .cancel]
      case .waiting where record.isHeld: [.resume, .now, .pause, .restart, .cancel]
      case .completed, .cancelled: [.restart]
      default: [.pause, .now, .restart, .cancel]
      }
    return order.filter { $0.applies(to: record) }
  }
}
