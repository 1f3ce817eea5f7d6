internal import DownloadSync

/// Shows what an engine does: bars below lines on a terminal, lines alone elsewhere.
actor ProgressDisplay {
  private let output: Output
  private let isScreen: Bool
  /// How wide the lines are that stand above the cursor.
  private var drawn: [Int] = []
  private var isCursorHidden = false
  private var pending: [String] = []
  private var hasFailures = false

  init(output: Output = .current, isScreen: Bool = Terminal.messages.isInteractive) {
    self.output = output
    self.isScreen = isScreen
  }

  /// Follows the engine until its run ends, by its events from before that.
  nonisolated func follow(_ engine: DownloadEngine, _ events: DownloadEvents) async {
    let drawing = isScreen ? Task { await draw(engine) } : nil
    for await event in events { await tell(event) }
    drawing?.cancel()
    await drawing?.value
    await finish()
  }

  /// Leaves the terminal as it was found.
  ///
  /// For the moment before an abrupt end.
  static func restoreTerminal() {
    if Terminal.messages.isInteractive { Output.current.draw(Terminal.showCursor) }
  }

  private nonisolated func draw(_ engine: DownloadEngine) async {
    while !Task.isCancelled {
      await draw(await engine.progress(), in: Terminal.messages.size)
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  private func tell(_ event: DownloadEvent) {
    if case .failed = event, !hasFailures {
      hasFailures = true
      Worker.current?.tell(.failed)
    }
    guard let line = EventLine.text(for: event) else { return }
    // A started download shows as a bar.
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
    // What does not fit could not be redrawn in place.
    redraw(Array(lines.prefix(max(1, size.lines - 1))), columns: size.columns)
  }

  private func redraw(_ bars: [String], columns: Int) {
    var frame = isCursorHidden ? "" : Terminal.hideCursor
    isCursorHidden = true
    // In a terminal that became narrower they take more rows than they were drawn on.
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
