internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
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
      let screen = WatchScreen(list: list, names: names, store: store, terminal: .output)
      let signals = StopSignals(onLast: screen.close) { _ in stop.stop() }
      let jobs = JobControl(onSuspend: screen.suspend, onResume: screen.resume)
      defer { screen.close() }
      while !stop.isStopped {
        try screen.show { stop.stop() }
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
