/// The table of the state machine: which events a download accepts in a position, and where each
/// leads.
///
/// Pure and total: every event has an entry for every position. docs/state-machine.md and the diagram in
/// docs/architecture.md are written from it.
package enum TransitionTable {
  /// What an event does in a position.
  package enum Entry: Sendable, Hashable {
    /// The download gets this position, which may be the one that it has.
    case becomes(DownloadStatus)
    /// The event has no effect: a command that does not apply to the download.
    case ignored
    /// The event must not occur here.
    case illegal
  }

  /// Rows of the table: the states and the intents in which an event is accepted, and its effect.
  package struct Rule: Sendable {
    /// The new state.
    enum Target: Sendable {
      /// The state stays.
      case same
      /// The download gets a state.
      case state(DownloadState)
      /// The download waits for its next attempt, or is paused if its intent says so.
      case queue
      /// The event has no effect.
      case nothing
    }

    /// The states in which the rule applies.
    package var states: [DownloadState]
    /// The intents with which it does.
    package var intents: [DownloadIntent]
    var target: Target
    /// The new intent; `nil` if it stays.
    var intent: DownloadIntent?

    fileprivate init(
      _ states: [DownloadState],
      _ intents: [DownloadIntent],
      _ target: Target,
      _ intent: DownloadIntent? = nil
    ) {
      self.states = states
      self.intents = intents
      self.target = target
      self.intent = intent
    }

    /// The effect on a position in which the rule applies.
    func entry(for status: DownloadStatus) -> Entry {
      let intent = intent ?? status.intent
      return switch target {
      case .same: .becomes(DownloadStatus(status.state, intent))
      case .state(let state): .becomes(DownloadStatus(state, intent))
      case .queue: .becomes(DownloadStatus(intent == .pause ? .paused : .waiting, intent))
      case .nothing: .ignored
      }
    }
  }

  /// The entry of an event for a position.
  package static func entry(
    for event: DownloadRecord.Event.Kind,
    in status: DownloadStatus
  ) -> Entry {
    rules(of: event)
      .first { $0.states.contains(status.state) && $0.intents.contains(status.intent) }?
      .entry(for: status) ?? .illegal
  }

  /// The rules of an event, of which the first that applies decides; without one it is illegal.
  package static func rules(of event: DownloadRecord.Event.Kind) -> [Rule] {
    switch event {
    case .pause: pause
    case .resume: resume
    case .cancel: cancel
    case .restart: restart
    case .refresh: refresh
    case .refreshRefused: refreshRefused
    case .refreshCancelled: refreshCancelled
    case .refreshFailed: refreshFailed
    case .notModified: notModified
    case .remove: remove
    case .addedAgain: addedAgain
    case .moved: moved
    case .imported: imported
    case .started, .taskAdopted, .transferContinued: start
    case .interrupted: interrupted
    case .attemptFailed: attemptFailed
    case .attemptRestarted, .attemptDeferred: attemptRepeated
    case .failed: failed
    case .unattended: unattended
    case .retryPending: retryPending
    case .quarantined: quarantined
    case .fileLost: fileLost
    case .pauseCarriedOut: pauseCarriedOut
    case .cancellationCarriedOut: cancellationCarriedOut
    case .fileComplete: fileComplete
    case .completed: completed
    case .fileAdopted: fileAdopted
    case .fileRejected, .fileDamaged: fileRejected
    }
  }

  /// The positions that events lead to from those of a new download.
  package static let reachable: Set<DownloadStatus> = {
    var found = Set(DownloadStatus.initial)
    var size = 0
    while size < found.count {
      size = found.count
      found = positions(after: found)
    }
    return found
  }()

  /// Some positions, and those that one event leads to from them.
  package static func positions(after positions: Set<DownloadStatus>) -> Set<DownloadStatus> {
    var next = positions
    for status in positions {
      for event in DownloadRecord.Event.Kind.allCases {
        if case .becomes(let new) = entry(for: event, in: status) { next.insert(new) }
      }
    }
    return next
  }

  // MARK: Commands

  private static let every = DownloadState.allCases
  private static let anyIntent = DownloadIntent.allCases
  /// The intents of a download that is not given up.
  private static let wanted: [DownloadIntent] = [.run, .pause]

  private static let pause = [
    Rule([.waiting, .running, .failedRetryable, .paused], wanted, .state(.paused), .pause),
    // A complete file gets its name without the network.
    Rule([.finalizing], wanted, .same, .pause),
    Rule(every, anyIntent, .nothing),
  ]

  private static let resume = [
    Rule([.paused, .failedRetryable, .failedPermanent], wanted, .state(.waiting), .run),
    Rule([.waiting, .running, .finalizing], wanted, .same, .run),
    Rule(every, anyIntent, .nothing),
  ]

  // A cancelled download with a task or a partial file only gets the intent: its state stays one that
  // engines examine, so that after a kill the next engine deletes the files.
  private static let cancel = [
    Rule(
      [.waiting, .failedRetryable, .paused, .failedPermanent],
      wanted,
      .state(.waiting),
      .cancel
    ),
    Rule([.running, .finalizing], wanted, .same, .cancel),
    Rule(every, anyIntent, .nothing),
  ]

  private static let restart = [
    Rule([.removed], anyIntent, .nothing),
    Rule(every, anyIntent, .state(.waiting), .run),
  ]

  // A refresh is queued as a restart; only what it returns to tells it from one.
  private static let refresh = [
    Rule([.completed], anyIntent, .state(.waiting), .run),
    Rule(every, anyIntent, .nothing),
  ]

  private static let refreshRefused = [Rule(every, anyIntent, .nothing)]

  private static let remove = [Rule(every, anyIntent, .state(.removed), .remove)]

  private static let addedAgain = [
    Rule([.completed], anyIntent, .nothing),
    // A command to end the download that has not been carried out yet is withdrawn.
    Rule([.waiting, .running, .finalizing], anyIntent, .same, .run),
    Rule(every, anyIntent, .state(.waiting), .run),
  ]

  private static let moved = [
    Rule([.running], anyIntent, .queue),
    Rule([.failedRetryable, .failedPermanent], wanted, .state(.waiting), .run),
    // Not while the file is being renamed or deleted.
    Rule(every.filter { $0 != .finalizing && $0 != .removed }, anyIntent, .same),
  ]

  // A record of a file has no transfer. A state that only a running engine can have becomes the one
  // in which an engine would find the download after its end. A removed download does not come in.
  private static let imported = [
    Rule([.cancelled], [.run, .pause, .cancel], .state(.cancelled), .cancel),
    Rule([.completed], [.run, .pause, .cancel], .state(.completed), .run),
    Rule(every.filter { $0 != .removed }, [.cancel], .state(.waiting), .cancel),
    Rule([.paused], wanted, .state(.paused), .pause),
    Rule([.waiting, .running, .finalizing], wanted, .queue),
    Rule([.failedRetryable], [.pause], .state(.paused)),
    Rule([.failedRetryable], [.run], .same),
    Rule([.failedPermanent], wanted, .same, .run),
  ]

  // MARK: Transfers

  private static let start = [Rule(DownloadState.proceeding, [.run], .state(.running))]

  private static let interrupted = [Rule([.running], anyIntent, .queue)]

  private static let attemptFailed = [
    Rule(DownloadState.proceeding, [.run], .state(.failedRetryable)),
    Rule(DownloadState.proceeding, [.pause], .state(.paused)),
  ]

  private static let attemptRepeated = [Rule(DownloadState.proceeding, wanted, .queue)]

  private static let failed = [Rule(DownloadState.proceeding, wanted, .state(.failedPermanent))]

  private static let refreshFailed = [
    Rule(DownloadState.proceeding, wanted, .state(.completed), .run)
  ]

  private static let refreshCancelled = [
    Rule(every.filter { $0 != .removed }, [.cancel], .state(.completed), .run)
  ]

  private static let notModified = [
    Rule(DownloadState.proceeding, wanted, .state(.completed), .run),
    Rule([.paused], wanted, .state(.completed), .run),
  ]

  private static let unattended = [Rule(DownloadState.proceeding, [.run], .state(.waiting))]

  private static let retryPending = [Rule([.failedRetryable], [.run], .same)]

  private static let quarantined = [
    Rule(DownloadState.proceeding, [.run], .state(.failedPermanent))
  ]

  // A record in `finalizing` may have the intent `pause` without being paused, because a rename needs
  // no network. If the rename comes to nothing, the next attempt does need it.
  private static let fileLost = [Rule([.finalizing, .completed], wanted, .queue)]

  private static let pauseCarriedOut = [
    Rule([.paused], anyIntent, .same),
    Rule(DownloadState.proceeding, [.pause], .state(.paused)),
  ]

  private static let cancellationCarriedOut = [
    Rule([.cancelled], anyIntent, .same),
    Rule(every.filter { $0 != .removed }, [.cancel], .state(.cancelled)),
  ]

  // MARK: Files

  private static let kept = every.filter { !$0.isGone }

  private static let fileComplete = [Rule(kept, wanted, .state(.finalizing))]

  private static let completed = [Rule(kept, wanted, .state(.completed))]

  private static let fileAdopted = [Rule([.waiting, .paused], wanted, .state(.completed))]

  private static let fileRejected = [Rule([.completed], anyIntent, .state(.waiting), .run)]
}

/// An event that must not occur in the state of a download.
package struct TransitionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The event.
  package var event: DownloadRecord.Event.Kind
  /// The position of the download.
  package var status: DownloadStatus

  /// The states in which the event is accepted with the intent of the download.
  package var expected: [DownloadState] {
    DownloadState.allCases.filter {
      TransitionTable.entry(for: event, in: DownloadStatus($0, status.intent)) != .illegal
    }
  }

  /// What happened, and what was expected.
  package var description: String {
    let states = expected.map(\.rawValue).joined(separator: ", ")
    return "the event '\(event.rawValue)' does not apply to a download that is "
      + "\(status.state.rawValue) with the intent '\(status.intent.rawValue)'"
      + (states.isEmpty ? "" : ": expected one that is \(states)")
  }
}
