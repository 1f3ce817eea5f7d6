internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import Logging
internal import ObjectStore

/// Shows an engine's progress: bars below event lines on a terminal, event lines only elsewhere.
actor ProgressDisplay {
  nonisolated let options: DisplayOptions
  private let output: Output
  /// `nil` if bars are not shown.
  private let screen: LiveScreen?
  private let isColored: Bool
  private var counts: QueueCounts?
  private let lines: EventLine
  /// The URLs of the downloads to show; `nil` for all.
  private let scope: URLSet?
  private var report: RunReport
  private var retries = PendingRetries()
  /// The running transfers of shared downloads.
  private var transfers: [DownloadProgress] = []
  /// The error of the first write to standard output that failed.
  private(set) var failure: (any Error)?
  /// Whether the supervisor knows that a download has failed.
  private var hasToldFailure = false
  /// The number of downloads that have failed, as ``RunReport/incomplete``; `nil` if events were missed.
  var failed: Int? { report.isComplete ? report.incomplete : nil }

  init(
    options: DisplayOptions,
    scope: [String]? = nil,
    counts: QueueCounts? = nil,
    lines: EventLine = EventLine(),
    output: Output = .current,
    terminal: Terminal = .messages
  ) {
    self.options = options
    self.scope = scope.map { URLSet($0) }
    self.counts = counts
    self.lines = lines
    report = RunReport(name: lines.name)
    self.output = output
    screen =
      options.showsBars && terminal.isInteractive
      ? LiveScreen(output: output, terminal: terminal) : nil
    isColored = TerminalStyle(of: terminal, color: options.color.color).isColored
  }

  /// The logger for the engine; `nil` unless the user asked for each step.
  nonisolated var logger: Logger? {
    guard options.verbose else { return nil }
    let (screen, output) = (screen, output)
    return Logger(label: "dlstore") { _ in
      StepLog { line in
        if let screen { screen.print(TerminalText.safe(line)) } else { output.say(line) }
      }
    }
  }

  /// Follows the engine until its run ends.
  ///
  /// `events` must have been subscribed before the run.
  nonisolated func follow(_ engine: DownloadEngine, _ events: DownloadEvents) async {
    let jobs = screen.map { screen in
      JobControl(onSuspend: screen.suspend, onResume: screen.resume)
    }
    let drawing = Task { await draw(engine) }
    for await event in events where await !tell(event) { engine.stop() }
    drawing.cancel()
    await drawing.value
    await finish()
    withExtendedLifetime(jobs) {}
  }

  /// Shows downloads that this or another process runs, until they have ended.
  ///
  /// - Parameters:
  ///   - downloads: The downloads.
  ///   - ended: The URLs of those whose ends were reported before.
  ///   - notice: Returns the line about another process that runs them, once; `nil` for none.
  /// - Returns: The last state.
  /// - Throws: The errors of the downloads.
  nonisolated func follow(
    _ downloads: SharedDownloads,
    ended: Set<StoredText>,
    notice: @Sendable (String) -> String?
  ) async throws -> SharedProgress? {
    let jobs = screen.map { screen in
      JobControl(onSuspend: screen.suspend, onResume: screen.resume)
    }
    let drawing = Task { await drawTransfers() }
    var last: SharedProgress?
    var leader: String?
    let result: Result<Void, any Error>
    do {
      var progresses = downloads.makeAsyncIterator()
      while var progress = try await progresses.next() {
        if last == nil {
          progress.events.removeAll { event in
            event.isEnd && event.url.map { ended.contains(StoredText($0)) } ?? false
          }
        }
        if let other = progress.leader {
          if leader == nil, let line = notice(other) { await say(line) }
          leader = other
        } else if progress.isLeading, let previous = leader {
          leader = nil
          await say("the engine (\(previous)) has ended; this command continues the downloads")
        }
        last = progress
        if await !show(progress) { await progresses.stop() }
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    drawing.cancel()
    await drawing.value
    let isSummed = last.map { $0.isLeading || $0.records.allSatisfy(\.needsCommand) } ?? false
    // Only the waiting for another engine has ended otherwise.
    if isSummed { await finish() } else { screen?.close() }
    withExtendedLifetime(jobs) {}
    try result.get()
    return last
  }

  private func say(_ line: String) {
    guard !options.quiet else { return }
    if let screen { screen.print(TerminalText.safe(line)) } else { output.say(line) }
  }

  /// Shows what has happened to the downloads; returns whether the output could be written.
  private func show(_ progress: SharedProgress) -> Bool {
    transfers = progress.transfers
    for event in progress.events { _ = tell(event) }
    return failure == nil
  }

  private nonisolated func drawTransfers() async {
    guard screen != nil || options.jsonEvents else { return }
    let interval = Duration.milliseconds(screen == nil ? 1000 : 100)
    while !Task.isCancelled {
      _ = await draw(transfers)
      try? await Task.sleep(for: interval)
    }
  }

  /// Restores the terminal before an immediate exit.
  static func restoreTerminal() {
    if Terminal.messages.isInteractive { Output.current.draw(Terminal.showCursor) }
  }

  private nonisolated func draw(_ engine: DownloadEngine) async {
    guard screen != nil || options.jsonEvents else { return }
    let interval = Duration.milliseconds(screen == nil ? 1000 : 100)
    while !Task.isCancelled {
      if await !draw(await engine.currentProgress()) { engine.stop() }
      try? await Task.sleep(for: interval)
    }
  }

  private func isShown(_ url: String) -> Bool { scope?.contains(url) ?? true }

  /// Shows the progress of the running downloads; returns whether the output could be written.
  private func draw(_ running: [DownloadProgress]) -> Bool {
    let progress = running.filter { isShown($0.url) }
    if options.jsonEvents {
      for download in progress { write(EventJSON.value(of: download)) }
    }
    guard let screen else { return failure == nil }
    var total = ProgressSummary(
      completed: report.completed,
      failed: report.failed,
      remainingBytes: 0
    )
    for download in progress { total.add(download.estimate) }
    if let left = counts?.remaining(ended: total.completed + total.failed + report.unchanged) {
      total.remaining = left.count
      total.remainingBytes = ProgressSummary.sum(total.remainingBytes, left.waitingBytes)
    }
    let downloads = progress.map { download in
      ProgressLine(
        name: download.filename,
        estimate: download.estimate,
        ranges: download.hasGaps ? download.ranges : nil
      )
    }
    let frame = ProgressFrame(
      downloads: downloads,
      retries: retries.lines(lines),
      summary: total
    )
    screen.draw { frame.lines(in: $0, isColored: isColored) }
    return failure == nil
  }

  /// Shows an event; returns whether the output could be written.
  private func tell(_ event: DownloadEvent) -> Bool {
    if let url = event.url, !isShown(url) { return failure == nil }
    if case .failed = event, !hasToldFailure {
      hasToldFailure = true
      Worker.current?.tell(.failed)
    }
    let transfer = report.note(event)
    retries.note(event)
    if options.jsonEvents { write(EventJSON.value(of: event)) }
    if !options.verbose, scope?.count != 1, Self.isOfUnchanged(event) { return failure == nil }
    guard let line = lines.text(for: event, transfer), !options.quiet || EventLine.isError(event)
    else {
      return failure == nil
    }
    if let screen {
      // A started download is shown as a bar.
      if case .started = event, !options.verbose { return failure == nil }
      let text = TerminalText.safe(line)
      screen.print(isColored ? EventLine.colored(text, for: event) : text)
    } else {
      output.say(line)
    }
    return failure == nil
  }

  /// Whether the event says no more than the counts at the end: of a mirror, few files have changed.
  private static func isOfUnchanged(_ event: DownloadEvent) -> Bool {
    switch event {
    case .unchanged: true
    case .started(let record, _): record.refreshed != nil
    default: false
    }
  }

  private func finish() {
    if options.jsonEvents {
      let summary = RunSummary(
        completed: report.completed,
        failed: report.failed,
        unchanged: report.unchanged,
        copied: report.copied
      )
      write(EventJSON.value(of: summary))
    }
    screen?.close()
    guard !options.quiet else { return }
    let unfinished = counts?.unfinished() ?? (0, 0)
    for line in report.lines(unfinished: unfinished) { output.say(line) }
  }

  private func write(_ value: JSONValue) {
    guard failure == nil else { return }
    do {
      try output.line(value.text)
    } catch {
      failure = error
    }
  }
}
