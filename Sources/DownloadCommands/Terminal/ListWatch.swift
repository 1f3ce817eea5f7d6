internal import CommandLineSupport
internal import DownloadStore
internal import ObjectStore
internal import SystemInterface

/// Shows a list again whenever the store changes.
struct ListWatch {
  let list: ListCommand
  let store: RecordStore
  /// The condition for the downloads that are given by name; `nil` if none is.
  let names: Filter<DownloadRecord>?

  /// Runs until a signal arrives or the reader closes the pipe.
  func run() async throws {
    let stop = StopLatch()
    let options = list.display
    if options.output.format == .table, !options.noProgress, Terminal.output.isInteractive {
      let screen = WatchScreen(list: list, names: names, terminal: .output)
      let signals = StopSignals(onLast: screen.close) { _ in stop.stop() }
      let jobs = JobControl(onSuspend: screen.suspend, onResume: screen.resume)
      defer { screen.close() }
      while !stop.isStopped {
        try screen.show(store)
        await stop.wait(WatchPace.interval)
      }
      screen.close()
      withExtendedLifetime(jobs) {}
      if let signal = signals.first, signal != .interrupt { throw CommandFailure(signal.status) }
    } else {
      let signals = StopSignals { _ in stop.stop() }
      try await printEachTime(until: stop)
      if let signal = signals.first, signal != .interrupt { throw CommandFailure(signal.status) }
    }
  }

  /// Prints the whole list after each change.
  private func printEachTime(until stop: StopLatch) async throws {
    var shown: UInt64?
    var pace = WatchPace()
    var engineRuns = store.hasEngine
    var first = WatchedList(list.listing(names, engineRuns: engineRuns))
    while !stop.isStopped, !Terminal.output.hasLostReader {
      let number = try store.objects.commitNumber()
      // An engine that was killed has committed nothing.
      let hasEngine = store.hasEngine
      if number != shown || hasEngine != engineRuns, pace.allowsRead() {
        if hasEngine != engineRuns {
          first = WatchedList(list.listing(names, engineRuns: hasEngine))
        }
        engineRuns = hasEngine
        try pace.measure { try print(&first) }
        shown = number
      }
      await stop.wait(WatchPace.interval)
    }
  }

  private func print(_ first: inout WatchedList) throws {
    let roots = try store.roots()
    var updated = first
    try store.objects.read { tx in try updated.update(in: &tx, roots) }
    first = updated
    // A longer list is not held in memory.
    guard !updated.isCut else { return try list.show(store, names) }
    try list.show { try updated.entries.forEach($0) }
  }
}

/// The table of `list --watch` on a terminal, with the speeds of running downloads.
///
/// Speeds are measured from the stored byte counts, which an engine updates every second.
final class WatchScreen: Sendable {
  private struct State {
    var screen = FullScreen()
    var commit: UInt64?
    /// Whether an engine ran when the content was read.
    var engineRuns = false
    var content: WatchContent
    var pace = WatchPace()
    var speeds = ListSpeeds()
    var isSuspended = false
    var isClosed = false
    /// The last frame, which stays on the terminal after the end.
    var last: [ScreenLine] = []
  }

  private let state: Mutex<State>
  private let list: ListCommand
  private let names: Filter<DownloadRecord>?
  private let terminal: Terminal
  private let output = Output.current

  init(list: ListCommand, names: Filter<DownloadRecord>?, terminal: Terminal) {
    self.list = list
    self.names = names
    self.terminal = terminal
    state = Mutex(State(content: WatchContent(of: list.listing(names, engineRuns: false))))
  }

  /// Draws what has changed since the last call.
  ///
  /// - Throws: `StoreError`; ``ClosedPipe``; ``CommandFailure``.
  func show(_ store: RecordStore) throws {
    try state.withLock { state in
      guard !state.isSuspended, !state.isClosed, terminal.isInForeground else { return }
      let number = try store.objects.commitNumber()
      let size = terminal.size
      // An engine that was killed has committed nothing.
      let engineRuns = store.hasEngine
      let isCurrent = number == state.commit && engineRuns == state.engineRuns
      let isShown = isCurrent && state.screen.shows(size)
      // The speeds of running downloads change without a commit.
      guard !isShown || state.speeds.hasRunning else { return }
      if !isCurrent, state.pace.allowsRead() {
        var content =
          engineRuns == state.engineRuns
          ? state.content : WatchContent(of: list.listing(names, engineRuns: engineRuns))
        try state.pace.measure { try content.update(from: store) }
        state.content = content
        state.commit = number
        state.engineRuns = engineRuns
      }
      state.speeds.note(state.content.running, at: .now)
      state.last = frame(state.content, state.speeds, size)
      let bytes = state.screen.frame(state.last, size: size)
      if !bytes.isEmpty { try output.write(bytes) }
    }
  }

  /// Restores the terminal, before the process stops.
  func suspend() {
    state.withLock { state in
      try? output.write(state.screen.close())
      state.isSuspended = true
    }
  }

  /// Allows frames again, after the process has continued.
  func resume() {
    state.withLock { $0.isSuspended = false }
  }

  /// Restores the terminal, and leaves the last frame on it.
  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      let bytes = state.screen.close()
      guard !bytes.isEmpty else { return }
      try? output.write(bytes + state.last.map { $0.text + "\n" }.joined())
    }
  }

  private func frame(
    _ content: WatchContent,
    _ speeds: ListSpeeds,
    _ size: (columns: Int, lines: Int)
  ) -> [ScreenLine] {
    var style = TerminalStyle(of: terminal, color: list.display.color.color)
    style.width = size.columns
    // Rows that do not fit on the screen are not formatted.
    let room = max(1, size.lines - 3)
    let isCut = content.count > room
    let shown = content.entries.prefix(isCut ? room - 1 : room)
    let table = list.display.output.table(Array(shown), speeds: speeds.values)
    var lines = table.lines(style)
    if isCut { lines.append("… and \(content.count - shown.count) more") }
    lines.append(content.summary(speeds).text(width: size.columns))
    return lines.map { ScreenLine($0) }
  }
}

/// The speeds of running downloads, measured from the byte counts of a list.
struct ListSpeeds: Sendable {
  private var meters: [String: SpeedMeter] = [:]
  /// The speeds in bytes per second, by record id.
  private(set) var values: [String: Double] = [:]

  /// Whether a download was running at the last call of ``note(_:at:)``.
  var hasRunning: Bool { !meters.isEmpty }

  /// Adds the current byte counts.
  mutating func note(_ entries: [DownloadEntry], at now: SuspendingClock.Instant) {
    var running: [String: SpeedMeter] = [:]
    for entry in entries where entry.record.state == .running {
      var meter = meters[entry.record.id] ?? SpeedMeter()
      meter.note(entry.record.received, at: now)
      running[entry.record.id] = meter
    }
    meters = running
    values = running.compactMapValues { $0.bytesPerSecond(at: now) }
  }

  /// Returns the totals of the list.
  func summary(of entries: [DownloadEntry]) -> ProgressSummary {
    var summary = ProgressSummary(remainingBytes: 0)
    for entry in entries {
      let record = entry.record
      switch record.state {
      case .completed: summary.completed += 1
      case .failedPermanent: summary.failed += 1
      case .waiting, .running, .failedRetryable, .finalizing:
        summary.add(
          ProgressEstimate(
            received: record.received,
            expected: record.expected,
            bytesPerSecond: values[record.id]
          )
        )
      case .paused, .cancelled, .removed: break
      }
    }
    return summary
  }
}
