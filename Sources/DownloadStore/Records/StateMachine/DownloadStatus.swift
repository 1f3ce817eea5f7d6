/// The position of a download in its state machine: its state and the user's intent.
package struct DownloadStatus: Sendable, Hashable {
  /// The state.
  package var state: DownloadState
  /// The intent.
  package var intent: DownloadIntent

  /// Creates a position.
  package init(_ state: DownloadState, _ intent: DownloadIntent) {
    self.state = state
    self.intent = intent
  }

  /// All positions, including those that no event leads to.
  ///
  /// Another program may have stored any of them.
  package static let all = DownloadState.allCases.flatMap { state in
    DownloadIntent.allCases.map { DownloadStatus(state, $0) }
  }

  /// The positions of a new download: it waits, or the user adds it paused.
  package static let initial: [DownloadStatus] = [.init(.waiting, .run), .init(.paused, .pause)]
}

// The questions that the rest of the program asks about a state. Each has its only definition here.

extension DownloadState {
  /// The states that an engine examines at launch.
  package static let active: [DownloadState] = [
    .waiting, .running, .failedRetryable, .finalizing, .removed,
  ]

  /// The states of a download that proceeds, now or later, without another command.
  package static let proceeding: [DownloadState] = [
    .waiting, .running, .failedRetryable, .finalizing,
  ]

  /// Whether an engine examines downloads in this state at launch.
  package var isActive: Bool { Self.active.contains(self) }

  /// Whether a transfer is running, or is complete and the file is being renamed.
  public var isDownloading: Bool { self == .running || self == .finalizing }

  /// The states of a download that waits for a slot or for its next attempt.
  package static let awaitingStart: [DownloadState] = [.waiting, .failedRetryable]

  /// Whether the download waits for a slot or for its next attempt.
  package var awaitsStart: Bool { Self.awaitingStart.contains(self) }

  /// Whether the download proceeds, now or later, without another command.
  package var isProceeding: Bool { Self.proceeding.contains(self) }

  /// Whether the download is neither finished nor given up, so that it may still get its file.
  package var isUnfinished: Bool { isProceeding || self == .paused || self == .failedPermanent }

  /// Whether the download was given up, so that no engine will continue it.
  package var isGone: Bool { self == .cancelled || self == .removed }
}

extension DownloadIntent {
  /// Whether the user has cancelled or removed the download.
  package var isGivenUp: Bool { self == .cancel || self == .remove }
}

extension DownloadRecord {
  /// The position in the state machine.
  package var status: DownloadStatus { DownloadStatus(state, intent) }

  /// Whether the user has cancelled or removed the download.
  package var isGivenUp: Bool { intent.isGivenUp }

  /// Whether the user cancelled or removed the download and its files are not deleted yet.
  package var isToBeDeleted: Bool {
    state == .removed || intent == .remove || (intent == .cancel && state != .cancelled)
  }

  /// Whether the record waits for a slot or its next attempt, and is not paused, held or given up.
  package var mayStart: Bool { intent == .run && !isHeld && state.awaitsStart }

  /// Whether the download is to get a file that it does not have yet.
  package var awaitsFile: Bool { !isGivenUp && state.isUnfinished }

  /// Whether a failed attempt still concerns the download.
  ///
  /// A late failure does not undo a command or a completion.
  package var awaitsAttempt: Bool { !isGivenUp && state.isProceeding }
}
