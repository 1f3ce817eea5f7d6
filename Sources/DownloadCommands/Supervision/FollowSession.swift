internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync

/// Waits for downloads that the engine of another process runs, and shows their progress.
struct FollowSession {
  /// Why the waiting ended.
  enum End: Sendable, Hashable {
    /// The downloads have ended, or need a command of the user.
    case ended
    /// The engine has ended before the downloads.
    case engineEnded
    /// A signal stopped the waiting, and not the downloads.
    case stopped(StopSignal)
  }

  let store: RecordStore
  let urls: [String]
  let display: DisplayOptions
  /// The URLs of the downloads that were complete before the waiting began.
  let complete: Set<String>

  /// Waits until the downloads or the engine have ended, or a signal arrives.
  ///
  /// - Throws: `StoreError`; ``ClosedPipe``.
  func run() async throws -> End {
    let shown = ProgressDisplay(
      options: display,
      counts: QueueCounts(store: store, scope: Set(urls)),
      lines: EventLine { record in
        let entry = (try? store.roots()).map { DownloadEntry(record, $0) }
        return entry?.localPath ?? record.filename
      }
    )
    let updates = store.updates(of: urls)
    let known = complete
    let following = Task { try await shown.follow(updates, complete: known) }
    let signals = StopSignals(onLast: ProgressDisplay.restoreTerminal) { _ in following.cancel() }
    let haveEnded = try await following.value
    if let failure = await shown.failure { throw failure }
    if let signal = signals.first { return .stopped(signal) }
    return haveEnded ? .ended : .engineEnded
  }
}
