internal import CommandLineSupport
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
  private let scope: Set<String>?
  private var report = RunReport()
  private var retries = PendingRetries()
  /// The downloads of another engine.
  private var followed = FollowedRecords(complete: [])
  /// The error of the first write to standard output that failed.
  private(set) var failure: (any Error)?

  init(
    options: DisplayOptions,
    scope: Set<String>? = nil,
    counts: QueueCounts? = nil,
    lines: EventLine = EventLine(),
    output: Output = .current,
    terminal: Terminal = .messages
  ) {
    self.options = options
    self.scope = scope
    self.counts = counts
    self.lines = lines
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

  /// Follows downloads that the engine of another process runs; returns whether they have ended.
  ///
  /// False if the engine has ended before them, or if the task was cancelled.
  ///
  /// - Throws: `StoreError`.
  nonisolated func follow(
    _ updates: DownloadUpdates,
    complete: Set<String>
  ) async throws -> Bool {
    let jobs = screen.map { screen in
      JobControl(onSuspend: screen.suspend, onResume: screen.resume)
    }
    await begin(complete: complete)
    let drawing = Task { await drawFollowed() }
    let result: Result<Void, any Error>
    do {
      for try await records in updates where await !note(records) { break }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    drawing.cancel()
    await drawing.value
    let haveEnded = await followed.haveEnded
    if haveEnded { await finish() } else { screen?.close() }
    withExtendedLifetime(jobs) {}
    try result.get()
    return haveEnded
  }

  private func begin(complete: Set<String>) { followed = FollowedRecords(complete: complete) }

  /// Shows what has happened to the downloads; returns whether the output could be written.
  private func note(_ records: [DownloadRecord]) -> Bool {
    for event in followed.note(records, now: Date(), at: .now) { _ = tell(event) }
    return failure == nil
  }

  private nonisolated func drawFollowed() async {
    guard screen != nil || options.jsonEvents else { return }
    let interval = Duration.milliseconds(screen == nil ? 1000 : 100)
    while !Task.isCancelled {
      _ = await draw(followed.progress(at: .now))
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
    let waiting = counts?.read() ?? (0, 0)
    var total = ProgressSummary(completed: report.completed, failed: report.failed)
    total.remaining = waiting.count
    total.remainingBytes = waiting.bytes
    for download in progress { total.add(download.estimate) }
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
    if case .failed = event, report.failed == 0 { Worker.current?.tell(.failed) }
    let transfer = report.note(event)
    retries.note(event)
    if options.jsonEvents { write(EventJSON.value(of: event)) }
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

  private func finish() {
    if options.jsonEvents {
      let summary = RunSummary(completed: report.completed, failed: report.failed)
      write(EventJSON.value(of: summary))
    }
    screen?.close()
    guard !options.quiet else { return }
    for line in report.lines() { output.say(line) }
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
