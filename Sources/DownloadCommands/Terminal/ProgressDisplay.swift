internal import DownloadSync

/// Shows an engine's progress: bars below event lines on a terminal, event lines only elsewhere.
actor ProgressDisplay {
  private let output: Output
  private let isScreen: Bool
  /// The widths of the bars above the cursor.
  private var drawn: [Int] = []
  private var isCursorHidden = false
  private var pending: [String] = []
  private var hasFailures = false

  init(output: Output = .current, isScreen: Bool = Terminal.messages.isInteractive) {
    self.output = output
    self.isScreen = isScreen
  }

  /// Follows the engine until its run ends.
  ///
  /// `events` must have been subscribed before the run.
  nonisolated func follow(_ engine: DownloadEngine, _ events: DownloadEvents) async {
    let drawing = isScreen ? Task { await draw(engine) } : nil
    for await event in events { await tell(event) }
    drawing?.cancel()
    await drawing?.value
    await finish()
  }

  /// Restores the terminal before an immediate exit.
  static func restoreTerminal() {
    if Terminal.messages.isInteractive { Output.current.draw(Terminal.showCursor) }
  }

  private nonisolated func draw(_ engine: DownloadEngine) async {
    while !Task.isCancelled {
      await draw(await engine.currentProgress(), in: Terminal.messages.size)
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  private func tell(_ event: DownloadEvent) {
    if case .failed = event, !hasFailures {
      hasFailures = true
      Worker.current?.tell(.failed)
    }
    guard let line = EventLine.text(for: event) else { return }
    // A started download is shown as a bar.
    if isScreen, case .started = event { return }
    if isScreen { pending.append(TerminalText.safe(line)) } else { output.say(line) }
  }

  private func draw(
    _ progress: [DownloadProgress],
    in size: (columns: Int, lines: Int)
  ) {
    let lines = progress.map { download in
      ProgressLine(name: download.filename, estimate: download.estimate)
        .text(width: size.columns - 1)
    }
    // Lines that do not fit on the screen could not be redrawn in place.
    redraw(Array(lines.prefix(max(1, size.lines - 1))), columns: size.columns)
  }

  private func redraw(_ bars: [String], columns: Int) {
    var frame = isCursorHidden ? "" : Terminal.hideCursor
    isCursorHidden = true
    // After a terminal was made narrower, the drawn bars occupy more rows.
    frame += Terminal.up(drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) })
    for line in pending + bars { frame += line + Terminal.clearLine + "\n" }
    frame += Terminal.clearBelow
    pending = []
    drawn = bars.map(TerminalText.width)
    output.draw(frame)
  }

  private func finish() {
    guard isScreen else { return }
    redraw([], columns: Terminal.messages.size.columns)
    output.draw(Terminal.showCursor)
  }
}
